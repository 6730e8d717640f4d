//! What asks: an URL and headers, and the bytes of a request. Does not send them.

use std::{fmt, str::FromStr};

use http::{HeaderName, HeaderValue, Uri};

const DEFAULT_PORT: u16 = 80;

/// An absolute `http://` URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    uri: Uri,
    /// Without the brackets of an IPv6 address.
    host: String,
}

impl Url {
    /// Name or address of the server.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Port of the server, 80 unless the URL names one.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.uri.port_u16().unwrap_or(DEFAULT_PORT)
    }

    fn authority(&self) -> &str {
        self.uri.authority().map_or("", http::uri::Authority::as_str)
    }

    fn target(&self) -> &str {
        self.uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str)
    }
}

impl FromStr for Url {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let uri: Uri = text.parse().map_err(|error: http::uri::InvalidUri| error.to_string())?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => return Err("TLS is not spoken here; use http://".into()),
            _ => return Err("must begin with http://".into()),
        }
        let authority = uri.authority().map_or("", http::uri::Authority::as_str);
        if authority.contains('@') {
            return Err("user and password are not supported".into());
        }
        let host = uri.host().unwrap_or_default();
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host).to_owned();
        // The library takes an impossible port for none.
        let after_host = authority.rsplit(']').next().and_then(|rest| rest.split_once(':'));
        let wrong_port = after_host.is_some_and(|(_, port)| !port.parse::<u16>().is_ok_and(|port| port > 0));
        if host.is_empty() || wrong_port {
            return Err("must name a host, and a port from 1 to 65535 if any".into());
        }
        Ok(Self { uri, host })
    }
}

impl fmt::Display for Url {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "http://{}{}", self.authority(), self.target())
    }
}

/// One header line, without anything that could end it early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    name: HeaderName,
    value: HeaderValue,
}

impl FromStr for Header {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const DECIDED_HERE: [&str; 4] = ["connection", "content-length", "host", "transfer-encoding"];
        let (name, value) = text.split_once(':').ok_or("must be `Name: value`")?;
        let name = HeaderName::from_str(name.trim()).map_err(|error| error.to_string())?;
        let value = HeaderValue::from_str(value.trim()).map_err(|error| error.to_string())?;
        if DECIDED_HERE.contains(&name.as_str()) {
            return Err(format!("`{name}` is decided by the URL and the mode"));
        }
        Ok(Self { name, value })
    }
}

/// The bytes of a GET, which are the same for every request but the last of a connection.
#[derive(Clone, Debug)]
pub struct Request {
    keeping: Vec<u8>,
    closing: Vec<u8>,
}

impl Request {
    /// No more headers than are needed, and those asked for.
    #[must_use]
    pub fn new(url: &Url, headers: &[Header]) -> Self {
        let mut head = format!("GET {} HTTP/1.1\r\nHost: {}\r\n", url.target(), url.authority()).into_bytes();
        for header in headers {
            head.extend_from_slice(header.name.as_str().as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(header.value.as_bytes());
            head.extend_from_slice(b"\r\n");
        }
        let keeping = [&*head, b"\r\n"].concat();
        let closing = [&*head, b"Connection: close\r\n\r\n"].concat();
        Self { keeping, closing }
    }

    /// The bytes of one request. `last`: the server is to close when it has answered.
    #[must_use]
    pub fn bytes(&self, last: bool) -> &[u8] {
        if last { &self.closing } else { &self.keeping }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_url_gives_host_port_and_target() {
        let parts = |text: &str| {
            let url: Url = text.parse().expect("an URL");
            (url.host().to_owned(), url.port(), url.target().to_owned())
        };
        assert_eq!(parts("http://localhost"), ("localhost".into(), 80, "/".into()));
        assert_eq!(parts("http://127.0.0.1:8080/a/b?c=d"), ("127.0.0.1".into(), 8080, "/a/b?c=d".into()));
        assert_eq!(parts("http://[::1]:81/"), ("::1".into(), 81, "/".into()));
        assert_eq!(parts("http://[::1]/x#part"), ("::1".into(), 80, "/x".into()));
    }

    #[test]
    fn what_cannot_be_asked_for_is_refused() {
        let wrong = [
            "",
            "/",
            "localhost/",
            "https://a/",
            "ftp://a/",
            "http://",
            "http:///",
            "http://a b/",
            "http://a/\r\nX: y",
            "http://u:p@a/",
            "http://a:99999/",
            "http://a:0/",
            "http://a:/",
        ];
        for text in wrong {
            assert!(text.parse::<Url>().is_err(), "{text}");
        }
        for text in ["X", "X y: z", ": z", "X: a\r\nY: b", "Connection: close", "HOST: x"] {
            assert!(text.parse::<Header>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_the_last_request_of_a_connection_asks_to_close_it() {
        let url = "http://host:81/x?y".parse().expect("an URL");
        let request = Request::new(&url, &["Accept:  */*".parse().expect("a header")]);
        assert_eq!(request.bytes(false), b"GET /x?y HTTP/1.1\r\nHost: host:81\r\naccept: */*\r\n\r\n");
        assert_eq!(
            request.bytes(true),
            b"GET /x?y HTTP/1.1\r\nHost: host:81\r\naccept: */*\r\nConnection: close\r\n\r\n"
        );
    }
}
