//! Classes of system calls, as strace has them behind `%`: which calls each means.
//!
//! strace's own classification up to its version 6.1, observed by tracing every number with each class, and continued
//! for the calls that came since.

/// Name of each class with its calls.
const CLASSES: [(&str, &str); 9] = [
    (
        "net",
        "accept accept4 bind connect getpeername getpmsg getsockname getsockopt listen putpmsg recvfrom \
         recvmmsg recvmsg sendfile sendmmsg sendmsg sendto setsockopt shutdown socket socketpair",
    ),
    (
        "desc",
        "bpf cachestat close close_range copy_file_range creat dup dup2 dup3 epoll_create epoll_create1 \
         epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 execveat faccessat faccessat2 \
         fadvise64 fallocate fanotify_init fanotify_mark fchdir fchmod fchmodat fchmodat2 fchown fchownat \
         fcntl fdatasync fgetxattr finit_module flistxattr flock fremovexattr fsconfig fsetxattr fsmount \
         fsopen fspick fstat fstatfs fsync ftruncate futimesat getdents getdents64 getxattrat \
         inotify_add_watch inotify_init inotify_init1 inotify_rm_watch io_uring_enter io_uring_register \
         io_uring_setup ioctl kexec_file_load landlock_add_rule landlock_create_ruleset \
         landlock_restrict_self linkat listxattrat lseek memfd_create memfd_secret mkdirat mknodat mmap \
         mount_setattr move_mount mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend \
         name_to_handle_at newfstatat open open_by_handle_at open_tree openat openat2 perf_event_open \
         pidfd_getfd pidfd_open pidfd_send_signal pipe pipe2 poll ppoll pread64 preadv preadv2 \
         process_madvise process_mrelease pselect6 pwrite64 pwritev pwritev2 quotactl_fd read readahead \
         readlinkat readv removexattrat renameat renameat2 select sendfile setns setxattrat signalfd \
         signalfd4 splice statx symlinkat sync_file_range syncfs tee timerfd_create timerfd_gettime \
         timerfd_settime unlinkat userfaultfd utimensat vmsplice write writev",
    ),
    (
        "file",
        "access acct chdir chmod chown chroot creat execve execveat faccessat faccessat2 fanotify_mark \
         fchmodat fchmodat2 fchownat fspick futimesat getcwd getxattr getxattrat inotify_add_watch lchown \
         lgetxattr link linkat listxattr listxattrat llistxattr lremovexattr lsetxattr lstat mkdir mkdirat \
         mknod mknodat mount mount_setattr move_mount name_to_handle_at newfstatat open open_tree openat \
         openat2 pivot_root quotactl readlink readlinkat removexattr removexattrat rename renameat renameat2 \
         rmdir setxattr setxattrat stat statfs statx swapoff swapon symlink symlinkat truncate umount2 unlink \
         unlinkat uselib utime utimensat utimes",
    ),
    (
        "process",
        "clone clone3 execve execveat exit exit_group fork kill pidfd_send_signal rt_sigqueueinfo \
         rt_tgsigqueueinfo tgkill tkill vfork wait4 waitid",
    ),
    (
        "memory",
        "brk cachestat get_mempolicy io_destroy io_setup madvise map_shadow_stack mbind migrate_pages mincore \
         mlock mlock2 mlockall mmap move_pages mprotect mremap mseal msync munlock munlockall munmap \
         pkey_alloc pkey_free pkey_mprotect process_madvise process_mrelease remap_file_pages set_mempolicy \
         set_mempolicy_home_node shmat shmdt",
    ),
    (
        "signal",
        "kill pause pidfd_send_signal rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn \
         rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo sigaltstack signalfd signalfd4 tgkill tkill",
    ),
    ("ipc", "msgctl msgget msgrcv msgsnd semctl semget semop semtimedop shmat shmctl shmdt shmget"),
    (
        "creds",
        "capget capset getegid geteuid getgid getgroups getresgid getresuid getuid prctl setfsgid setfsuid \
         setgid setgroups setregid setresgid setresuid setreuid setuid",
    ),
    ("clock", "adjtimex clock_adjtime clock_getres clock_gettime clock_settime gettimeofday settimeofday time"),
];

/// Names of the calls in a class, without the `%`; `None` when there is no such class.
pub(crate) fn class(name: &str) -> Option<impl Iterator<Item = &'static str>> {
    let (_, calls) = CLASSES.iter().find(|(known, _)| *known == name || long_name(known) == name)?;
    Some(calls.split_whitespace())
}

/// strace's older spellings.
fn long_name(class: &str) -> &str {
    match class {
        "net" => "network",
        other => other,
    }
}

/// All class names as they are typed.
pub(crate) fn all() -> String {
    CLASSES.map(|(name, _)| format!("%{name}")).join(", ")
}

#[cfg(test)]
mod tests {
    use super::{super::names::native_names, *};

    #[test]
    fn every_call_of_a_class_exists() {
        let known: Vec<_> = native_names().collect();
        for (name, calls) in CLASSES {
            let unknown: Vec<_> = calls.split_whitespace().filter(|call| !known.contains(call)).collect();
            assert!(unknown.is_empty(), "%{name}: {unknown:?}");
        }
    }

    #[test]
    fn classes_mean_what_their_users_expect() {
        let net: Vec<_> = class("net").expect("known").collect();
        assert!(net.contains(&"accept4") && net.contains(&"connect") && !net.contains(&"read"));
        assert_eq!(class("network").expect("known").count(), net.len());
        assert!(class("desc").expect("known").any(|call| call == "epoll_wait"));
        assert!(class("nothing").is_none());
    }
}
