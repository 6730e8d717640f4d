//! Maps, and what user space says of this kernel and this run.

use aya_ebpf::{
    Global,
    macros::map,
    maps::{Array, HashMap, PerCpuArray, RingBuf},
};
use probes::{
    ABSENT,
    kernel::{atomic, member::Offset, task_storage::TaskStorage},
    tcp::{COUNTERS, Counter, Listener, STATES},
};

/// Bytes of records that wait for user space: some 63,000, as many as short connections end in a second at the most.
const RECORD_BYTES: u32 = 16 << 20;

/// How often each state followed each, where no record tells: of listeners, of what was let go or lost.
#[map]
pub static TRANSITIONS: PerCpuArray<u64> = PerCpuArray::with_max_entries(STATES * STATES, 0);

/// By [`Counter`]. All of them are rare.
#[map]
pub static COUNTS: Array<u64> = Array::with_max_entries(COUNTERS, 0);

/// By socket cookie. Only listeners in trouble are here.
#[map]
pub static LISTENERS: HashMap<u64, Listener> = HashMap::with_max_entries(1024, 0);

/// `struct sock *` of the connection that a CPU has just made from a SYN, for the listener that is woken next.
#[map]
pub static NEWBORN: PerCpuArray<u64> = PerCpuArray::with_max_entries(1, 0);

/// Ends of connections, each a [`probes::tcp::Connection`].
#[map]
pub static ENDED: RingBuf = RingBuf::with_byte_size(RECORD_BYTES, 0);

/// Number and one of the group that a thread belongs to.
#[unsafe(link_section = ".maps")]
#[unsafe(no_mangle)]
pub static MARKS: TaskStorage<u32> = TaskStorage::new();

/// Inode of the network namespace that is looked at.
#[unsafe(no_mangle)]
pub static NETNS: Global<u32> = Global::new(0);

/// `kfree_skb` gives the receiving socket.
#[unsafe(no_mangle)]
pub static DROP_NAMES_SOCKET: Global<u32> = Global::new(0);

/// Numbers in `skb_drop_reason`; `ABSENT` where this kernel has no such reason.
#[unsafe(no_mangle)]
pub static REASON_LISTEN_OVERFLOW: Global<u32> = Global::new(ABSENT);
#[unsafe(no_mangle)]
pub static REASON_TCP_FLAGS: Global<u32> = Global::new(ABSENT);

macro_rules! offsets {
    ($($name:ident),* $(,)?) => { $(#[unsafe(no_mangle)] pub static $name: Offset = Offset::new(ABSENT);)* };
}

// Named after the structure and the member; `analyzer/src/bpf/tcp/offsets.rs` fills them in.
offsets!(
    SOCK_STATE,
    SOCK_PROTOCOL,
    SOCK_NET,
    SOCK_NUM,
    SOCK_DPORT,
    SOCK_SADDR,
    SOCK_DADDR,
    SOCK_V6_SADDR,
    SOCK_V6_DADDR,
    SOCK_ERR,
    SOCK_FLAGS,
    SOCK_ACK_BACKLOG,
    SOCK_COOKIE,
    NET_INUM,
    INET_SPORT,
    TCP_SRTT_US,
    TCP_TOTAL_RETRANS,
    TCP_SEGS_OUT,
    TCP_BYTES_RECEIVED,
    TCP_BYTES_SENT,
    TCP_BYTES_RETRANS,
    TCP_RCV_NXT,
    TCP_COPIED_SEQ,
    TASK_COMM,
    TASK_TGID,
    TASK_GROUP_LEADER,
    TASK_FILES,
    FILES_FDT,
    FDT_FD,
    FILE_PRIVATE_DATA,
    SOCKET_SK,
    MPTCP_FIRST,
);

#[inline(always)]
pub fn count(counter: Counter) {
    if let Some(slot) = COUNTS.get_ptr_mut(counter as u32) {
        // SAFETY: aligned memory that lives as long as the map, and other programs reach it in this way alone.
        unsafe { atomic::add(&mut *slot, 1) }
    }
}
