//! Where this kernel keeps what the TCP programs read, and what it can tell them.

use anyhow::Result;
use aya::EbpfLoader;
use probes::ABSENT;

use crate::bpf::loading::KernelTypes;

/// Global and member; without these the programs cannot work.
const MEMBERS: [(&str, &str); 29] = [
    ("SOCK_STATE", "sock.__sk_common.skc_state"),
    ("SOCK_PROTOCOL", "sock.sk_protocol"),
    ("SOCK_NET", "sock.__sk_common.skc_net.net"),
    ("SOCK_NUM", "sock.__sk_common.skc_num"),
    ("SOCK_DPORT", "sock.__sk_common.skc_dport"),
    ("SOCK_SADDR", "sock.__sk_common.skc_rcv_saddr"),
    ("SOCK_DADDR", "sock.__sk_common.skc_daddr"),
    ("SOCK_ERR", "sock.sk_err"),
    ("SOCK_FLAGS", "sock.__sk_common.skc_flags"),
    ("SOCK_ACK_BACKLOG", "sock.sk_ack_backlog"),
    ("SOCK_COOKIE", "sock.__sk_common.skc_cookie"),
    ("NET_INUM", "net.ns.inum"),
    ("INET_SPORT", "inet_sock.inet_sport"),
    ("TCP_SRTT_US", "tcp_sock.srtt_us"),
    ("TCP_TOTAL_RETRANS", "tcp_sock.total_retrans"),
    ("TCP_SEGS_OUT", "tcp_sock.segs_out"),
    ("TCP_BYTES_RECEIVED", "tcp_sock.bytes_received"),
    ("TCP_BYTES_SENT", "tcp_sock.bytes_sent"),
    ("TCP_BYTES_RETRANS", "tcp_sock.bytes_retrans"),
    ("TCP_RCV_NXT", "tcp_sock.rcv_nxt"),
    ("TCP_COPIED_SEQ", "tcp_sock.copied_seq"),
    ("TASK_COMM", "task_struct.comm"),
    ("TASK_TGID", "task_struct.tgid"),
    ("TASK_GROUP_LEADER", "task_struct.group_leader"),
    ("TASK_FILES", "task_struct.files"),
    ("FILES_FDT", "files_struct.fdt"),
    ("FDT_FD", "fdtable.fd"),
    ("FILE_PRIVATE_DATA", "file.private_data"),
    ("SOCKET_SK", "socket.sk"),
];

/// Global and member that some kernels are built without: IPv6, MPTCP.
const MEMBERS_IF_ANY: [(&str, &str); 3] = [
    ("SOCK_V6_SADDR", "sock.__sk_common.skc_v6_rcv_saddr"),
    ("SOCK_V6_DADDR", "sock.__sk_common.skc_v6_daddr"),
    ("MPTCP_FIRST", "mptcp_sock.first"),
];

/// Arguments of `kfree_skb` where the last one is the receiving socket: skb, location, reason, rx_sk.
const KFREE_SKB_ARGUMENTS: usize = 4;

/// What the programs' globals are set to.
pub(super) struct Globals {
    values: Vec<(&'static str, u32)>,
    /// The kernel tells which socket a dropped segment was for.
    pub(super) drops_name_socket: bool,
    /// And whether that was because of a full accept queue.
    pub(super) tells_overflow: bool,
}

impl Globals {
    /// Looks everything up.
    ///
    /// # Errors
    /// When the kernel's socket structures are not as known.
    pub(super) fn of(types: &KernelTypes, netns: u32) -> Result<Self> {
        let mut values = vec![("NETNS", netns)];
        for (global, member) in MEMBERS {
            values.push((global, types.offset(member)?));
        }
        values.extend(MEMBERS_IF_ANY.map(|(global, member)| (global, types.offset_if_any(member))));
        let drops_name_socket = types.own.tracepoint_arguments("kfree_skb").is_some_and(|n| n >= KFREE_SKB_ARGUMENTS);
        let reason = |name| types.own.enumerator("skb_drop_reason", name);
        let overflow = reason("SKB_DROP_REASON_TCP_LISTEN_OVERFLOW");
        values.push(("DROP_NAMES_SOCKET", drops_name_socket.into()));
        values.push(("REASON_LISTEN_OVERFLOW", overflow.unwrap_or(ABSENT)));
        values.push(("REASON_TCP_FLAGS", reason("SKB_DROP_REASON_TCP_FLAGS").unwrap_or(ABSENT)));
        Ok(Self { values, drops_name_socket, tells_overflow: overflow.is_some() })
    }

    /// Sets them before the load.
    pub(super) fn set<'a>(&'a self, loader: &mut EbpfLoader<'a>) {
        for (name, value) in &self.values {
            loader.override_global(name, value, true);
        }
    }
}
