//! System calls whose return value is a size or a number of events.

use probes::syscalls::{NATIVE, SELECTION_WORDS};
use reports::recording::ReturnKind;

use super::names::table;

const BYTES: &str = "read write pread64 pwrite64 readv writev preadv pwritev preadv2 pwritev2 recvfrom sendto recvmsg \
                     sendmsg sendfile splice tee vmsplice copy_file_range getrandom";
const EVENTS: &str = "epoll_wait epoll_pwait epoll_pwait2 poll ppoll select pselect6 recvmmsg sendmmsg io_getevents \
                      io_pgetevents";

/// What a native call's return value means, where it is kept.
pub(crate) fn kind_of_return(name: &str) -> Option<ReturnKind> {
    let is_in = |list: &str| list.split_whitespace().any(|known| known == name);
    if is_in(BYTES) { Some(ReturnKind::Bytes) } else { is_in(EVENTS).then_some(ReturnKind::Events) }
}

/// One bit per native number whose return values are kept.
pub(crate) fn valued() -> [u64; SELECTION_WORDS] {
    let mut words = [0; SELECTION_WORDS];
    for (nr, _) in table(NATIVE).into_iter().filter(|(_, name)| kind_of_return(name).is_some()) {
        words[(nr / 64) as usize] |= 1 << (nr % 64);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_call_exists() {
        let known: Vec<_> = table(NATIVE).into_iter().map(|(_, name)| name).collect();
        for name in BYTES.split_whitespace().chain(EVENTS.split_whitespace()) {
            assert!(known.contains(&name), "{name}");
        }
        let bits: u32 = valued().iter().map(|word| word.count_ones()).sum();
        assert_eq!(bits as usize, BYTES.split_whitespace().count() + EVENTS.split_whitespace().count());
    }
}
