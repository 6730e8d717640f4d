//! The records of open ends of connections, by socket.
//!
//! A record lies in the place that its socket's address gives, where it is found with one look into one cache line; in
//! a hash map where that place is taken. The kernel's calls for a hash map alone cost 45 ns a look, 330 ns a birth.

use aya_ebpf::{
    bindings::{BPF_ANY, BPF_F_MMAPABLE},
    macros::map,
    maps::{Array, HashMap},
};
use probes::{
    kernel::{atomic, shared::Gauge},
    tcp::{COLLIDED as MOST_COLLIDED, Connection, DIRECT as DIRECT_PLACES, direct_place},
};

/// By [`direct_place`]. A map that could be mapped begins with a page, and so its records with cache lines.
#[map]
static DIRECT: Array<Connection> = Array::with_max_entries(DIRECT_PLACES, BPF_F_MMAPABLE);

/// By socket.
#[map]
static COLLIDED: HashMap<u64, Connection> = HashMap::with_max_entries(MOST_COLLIDED, 0);

/// How many are in [`COLLIDED`], or about to be.
static IN_COLLIDED: Gauge = Gauge::new();

/// What each begins as, there.
static EMPTY: Connection = Connection::EMPTY;

/// The record of a socket. One's events are serialised by its lock, so that it is not given and looked for at once.
#[inline(always)]
pub fn find(socket: u64) -> Option<&'static mut Connection> {
    // That is the socket of a place that is free.
    if socket == 0 {
        return None;
    }
    let direct = direct(socket)?;
    if direct.socket == socket {
        return Some(direct);
    }
    if IN_COLLIDED.level() == 0 {
        return None;
    }
    collided(socket)
}

/// An empty record for a socket that has none; `None` when all are taken.
#[inline(always)]
pub fn take(socket: u64) -> Option<&'static mut Connection> {
    let direct = direct(socket)?;
    // Another CPU may be faster; this very socket's is a record whose end was not seen.
    let was = if direct.socket == 0 { atomic::compare_exchange(&mut direct.socket, 0, socket) } else { direct.socket };
    if was == 0 || was == socket {
        clear(direct);
        return Some(direct);
    }
    IN_COLLIDED.up();
    if COLLIDED.insert(&socket, &EMPTY, u64::from(BPF_ANY)).is_err() {
        IN_COLLIDED.down();
        return None;
    }
    let connection = collided(socket)?;
    connection.socket = socket;
    Some(connection)
}

/// Leaves the record of a socket to others.
#[inline(always)]
pub fn release(socket: u64) {
    let Some(direct) = direct(socket) else { return };
    if direct.socket == socket {
        // SAFETY: valid and aligned.
        unsafe { (&raw mut direct.socket).write_volatile(0) }
    } else if COLLIDED.remove(&socket).is_ok() {
        IN_COLLIDED.down();
    }
}

/// All but whose it is.
#[inline(always)]
fn clear(connection: &mut Connection) {
    let words = core::ptr::from_mut(connection).cast::<u64>();
    for word in 1..size_of::<Connection>() / 8 {
        // Otherwise LLVM calls a function that does it byte by byte.
        // SAFETY: within the record, of which every pattern of bits is a value.
        unsafe { words.add(word).write_volatile(0) }
    }
}

#[inline(always)]
fn direct(socket: u64) -> Option<&'static mut Connection> {
    // SAFETY: the value stays as long as the program runs; a socket's events are serialised by its lock.
    DIRECT.get_ptr_mut(direct_place(socket)).map(|connection| unsafe { &mut *connection })
}

#[inline(always)]
fn collided(socket: u64) -> Option<&'static mut Connection> {
    // SAFETY: as above.
    COLLIDED.get_ptr_mut(&socket).map(|connection| unsafe { &mut *connection })
}
