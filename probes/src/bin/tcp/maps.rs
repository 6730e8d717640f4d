//! Maps, and what user space says of this kernel and this run.

use aya_ebpf::{
    Global,
    macros::map,
    maps::{HashMap, PerCpuArray, RingBuf},
};
use probes::{
    ABSENT,
    kernel::{counting::add_one_interruptibly, member::Offset, task_storage::TaskStorage},
    tcp::{COUNTERS, Connection, Counter, Listener, STATES},
};

/// Bytes of records that wait for user space: some 70,000, as many as short connections end in a second at the most.
const RECORD_BYTES: u32 = 16 << 20;

/// How often each state followed each.
#[map]
pub static TRANSITIONS: PerCpuArray<u64> = PerCpuArray::with_max_entries(STATES * STATES, 0);

#[map]
pub static COUNTS: PerCpuArray<u64> = PerCpuArray::with_max_entries(COUNTERS, 0);

/// Open ends of connections by `struct sock *`. User space sets the size.
#[map]
pub static CONNECTIONS: HashMap<u64, Connection> = HashMap::with_max_entries(1, 0);

/// What every connection begins as. A copy made on the stack costs more.
pub static EMPTY: Connection = Connection::EMPTY;

/// By socket cookie. Only listeners in trouble are here.
#[map]
pub static LISTENERS: HashMap<u64, Listener> = HashMap::with_max_entries(1024, 0);

/// `struct sock *` of the connection that a CPU has just made from a SYN, for the listener that is woken next.
#[map]
pub static NEWBORN: PerCpuArray<u64> = PerCpuArray::with_max_entries(1, 0);

/// Ends of connections, each a [`Connection`].
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
    add_one_interruptibly(&COUNTS, counter as u32);
}
