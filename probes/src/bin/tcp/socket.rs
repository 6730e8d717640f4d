//! Reading the kernel's sockets and tasks.

use aya_ebpf::{
    cty::c_void,
    helpers::generated::{bpf_get_socket_cookie, bpf_probe_read_kernel, bpf_skc_to_tcp_sock},
};
use probes::{
    ABSENT,
    kernel::{
        member::{self, Offset},
        shared::Remembered,
    },
    tcp::ADDRESS_BYTES,
};

use crate::maps::{
    NET_INUM, NETNS, SOCK_COOKIE, SOCK_DADDR, SOCK_NET, SOCK_PROTOCOL, SOCK_SADDR, SOCK_STATE, SOCK_V6_DADDR,
    SOCK_V6_SADDR,
};

const IPPROTO_TCP: u16 = 6;

/// The namespace that is looked at, when it has been met.
static HERE: Remembered = Remembered::new();

/// A `struct sock *` that the verifier knows as such.
#[derive(Clone, Copy)]
pub struct Sock(*const c_void);

impl Sock {
    /// A socket that a tracepoint has given us, when it is a TCP one of the namespace that is looked at.
    ///
    /// MPTCP and other protocols' sockets come through the same hooks.
    #[inline(always)]
    pub fn of_interest(sock: *const c_void) -> Option<Self> {
        let sock = Self(sock);
        if sock.0.is_null() || sock.read::<u16>(&SOCK_PROTOCOL) != IPPROTO_TCP {
            return None;
        }
        is_here(sock.read(&SOCK_NET)).then_some(sock)
    }

    /// Its place in memory, which names it as long as it lives, as a number: with the pointer the verifier allows no
    /// arithmetic. What is read from the stack at a place that it does not know is a number to it (v5.12
    /// `check_stack_read_var_off`), so the pointer is written to two places and read from either.
    #[inline(always)]
    pub fn key(self) -> u64 {
        let mut twice = [core::mem::MaybeUninit::<u64>::uninit(); 2];
        let twice = twice.as_mut_ptr().cast::<u64>();
        let either = usize::from(self.read::<u8>(&SOCK_STATE) & 1);
        // SAFETY: within the array, of which both are written.
        unsafe {
            twice.write_volatile(self.0 as u64);
            twice.add(1).write_volatile(self.0 as u64);
            twice.add(either).read_volatile()
        }
    }

    /// The name that is never used again.
    #[inline(always)]
    pub fn cookie(self) -> u64 {
        match self.read(&SOCK_COOKIE) {
            // SAFETY: the helper takes a socket and returns a number, which it gives now.
            0 => unsafe { bpf_get_socket_cookie(self.0.cast_mut()) },
            given => given,
        }
    }

    #[inline(always)]
    pub fn state(self) -> u32 {
        u32::from(self.read::<u8>(&SOCK_STATE))
    }

    /// A member of `struct sock`.
    #[inline(always)]
    pub fn read<T: Copy>(self, offset: &Offset) -> T {
        // SAFETY: a BTF pointer, the offset is from the kernel's BTF.
        unsafe { member::read(self.0, offset) }
    }

    /// The same socket with its TCP members.
    #[inline(always)]
    pub fn tcp(self) -> Option<TcpSock> {
        // SAFETY: the helper takes a socket and returns null or the same one.
        let tcp = unsafe { bpf_skc_to_tcp_sock(self.0.cast_mut()) } as *const c_void;
        (!tcp.is_null()).then_some(TcpSock(tcp))
    }

    #[inline(always)]
    pub fn source(self, address: &mut [u8; ADDRESS_BYTES]) {
        self.address(&SOCK_V6_SADDR, &SOCK_SADDR, address);
    }

    #[inline(always)]
    pub fn destination(self, address: &mut [u8; ADDRESS_BYTES]) {
        self.address(&SOCK_V6_DADDR, &SOCK_DADDR, address);
    }

    /// IPv4 sockets have their addresses in both members, mapped in the one for IPv6 (v6.18 `sk_daddr_set`).
    #[inline(always)]
    fn address(self, v6: &Offset, v4: &Offset, address: &mut [u8; ADDRESS_BYTES]) {
        if v6.load() == ABSENT {
            *address = [0; ADDRESS_BYTES];
            (address[10], address[11]) = (0xff, 0xff);
            address[12..].copy_from_slice(&self.read::<u32>(v4).to_ne_bytes());
        } else {
            // SAFETY: a BTF pointer, the offset is from the kernel's BTF, and the record's arrays are aligned.
            unsafe { member::copy_16_bytes(self.0, v6, address) }
        }
    }
}

/// Whether a `struct net *` is the namespace that is looked at. Its number lies beside a counter of its users that every
/// new socket moves, so it is read once; user space keeps the namespace, and so its place in memory.
#[inline(always)]
fn is_here(net: *const c_void) -> bool {
    if HERE.is(net) {
        return true;
    }
    // SAFETY: a BTF pointer, the offset is from the kernel's BTF.
    let is_here = !net.is_null() && unsafe { member::read::<u32>(net, &NET_INUM) } == NETNS.load();
    if is_here {
        HERE.remember(net);
    }
    is_here
}

/// A `struct tcp_sock *` that the verifier knows as such.
#[derive(Clone, Copy)]
pub struct TcpSock(*const c_void);

impl TcpSock {
    /// A member of `struct tcp_sock`, or of `struct inet_sock` with which it begins.
    #[inline(always)]
    pub fn read<T: Copy>(self, offset: &Offset) -> T {
        // SAFETY: a BTF pointer, the offset is from the kernel's BTF.
        unsafe { member::read(self.0, offset) }
    }
}

/// A member behind any kernel address; zero when that cannot be read. About 7 ns.
#[inline(always)]
pub fn peek(base: u64, offset: u32) -> u64 {
    let mut value = 0u64;
    // SAFETY: the helper checks what it reads, and writes eight bytes.
    unsafe {
        bpf_probe_read_kernel((&raw mut value).cast(), 8, (base + u64::from(offset)) as *const c_void);
    }
    value
}
