//! What a kernel counter tells when it moves, for those that tell of trouble or of `TIME_WAIT`.
//!
//! Counters of ordinary traffic are left out on purpose. Source: v6.18 `net/ipv4/proc.c` and the places that count.

/// A few words, or nothing when the counter only says that there was traffic.
pub(crate) fn meaning(counter: &str) -> Option<&'static str> {
    let words = match counter {
        "Tcp.AttemptFails" => "connection attempts that failed",
        "Tcp.EstabResets" => "established connections ended by a reset",
        "Tcp.InErrs" => "bad segments received",
        "Tcp.OutRsts" => "resets sent",
        "Tcp.RetransSegs" => "segments sent again",
        "TcpExt.EmbryonicRsts" => "resets for half-open connections",
        "TcpExt.ListenDrops" => "SYNs or ACKs a listener dropped, for any reason",
        "TcpExt.ListenOverflows" => "SYNs or ACKs dropped at a full accept queue",
        "TcpExt.PAWSEstab" => "segments dropped for an old timestamp",
        "TcpExt.PruneCalled" => "receive buffer over its limit",
        "TcpExt.SyncookiesFailed" => "ACKs with a wrong SYN cookie",
        "TcpExt.SyncookiesRecv" => "connections made by a SYN cookie",
        "TcpExt.SyncookiesSent" => "SYNs answered with a cookie: the SYN queue was full",
        "TcpExt.TCPAbortFailed" => "resets that could not be sent",
        "TcpExt.TCPAbortOnClose" => "reset because closed with data unread",
        "TcpExt.TCPAbortOnData" => "reset because data came after the close",
        "TcpExt.TCPAbortOnLinger" => "reset in FIN_WAIT2 after linger",
        "TcpExt.TCPAbortOnMemory" => "reset for want of memory",
        "TcpExt.TCPAbortOnTimeout" => "given up after too many retransmits",
        "TcpExt.TCPBacklogDrop" => "segments dropped at a full socket backlog",
        "TcpExt.TCPFastRetrans" => "segments sent again after duplicate ACKs",
        "TcpExt.TCPLossProbes" => "tail loss probes sent",
        "TcpExt.TCPLostRetransmit" => "retransmits that were lost too",
        "TcpExt.TCPMemoryPressures" => "times TCP came under memory pressure",
        "TcpExt.TCPRcvQDrop" => "segments dropped at a full receive queue",
        "TcpExt.TCPReqQFullDoCookies" => "SYN queue full: answered with SYN cookies",
        "TcpExt.TCPReqQFullDrop" => "SYN queue full: SYNs dropped",
        "TcpExt.TCPRetransFail" => "retransmits that could not be sent",
        "TcpExt.TCPSlowStartRetrans" => "segments sent again in slow start",
        "TcpExt.TCPSpuriousRTOs" => "retransmission timeouts that were needless",
        "TcpExt.TCPSynRetrans" => "SYNs and SYN-ACKs sent again: each waited a second or more",
        "TcpExt.TCPTimeWaitOverflow" => "TIME_WAIT skipped: tcp_max_tw_buckets reached",
        "TcpExt.TCPTimeouts" => "retransmission timers that ran out",
        "TcpExt.TCPZeroWindowDrop" => "segments dropped at a closed window",
        "TcpExt.TW" => "TIME_WAIT sockets made",
        "TcpExt.TWKilled" => "TIME_WAIT sockets ended early",
        "TcpExt.TWRecycled" => "TIME_WAIT sockets whose port was used again",
        _ => return None,
    };
    Some(words)
}
