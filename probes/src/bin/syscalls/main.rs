//! Counts and times the system calls of traced threads.
//!
//! | program | hook | does |
//! |---|---|---|
//! | `sys_enter`, `sys_exit` | tp_btf | time each call, add it to the row of its group and number |
//! | `sched_switch` | tp_btf | tells time on the CPU from time off it, within calls |
//! | `task_newtask` | tp_btf | marks the children of traced threads |
//! | `sched_process_exec` | tp_btf | marks processes by name or cgroup, where that was asked for |
//! | `sched_process_exit` | tp_btf | counts calls whose thread ended inside |
//! | `io_uring_submit_req`, `io_uring_complete` | tp_btf | count and time what goes past the system calls |
//! | `adopt` | iter/task, once | marks the other threads of a process whose first one is marked |
//! | `in_flight` | iter/task, once | lists the calls that have not returned |
//!
//! Key: the thread itself (task storage): it is traced exactly while it has a `Thread`. That is filter and
//! in-flight record in one look-up, right under migration, preemption and exec from any thread. Rows are given out as
//! calls are first seen, so that memory follows what a program does and not what Linux has.
//! Cost: a traced call, a third more than two clock reads alone; a call of any other process, less than those
//! (`scripts/bench-overhead`).
//! Misses: what `Counter` counts.
//!
//! Counters are plain read-modify-write on per-CPU memory: tracing programs run with preemption off.
#![no_std]
#![no_main]
#![allow(missing_docs, unreachable_pub, reason = "the program macro makes public wrappers")]

mod calls;
mod io_uring;
mod maps;
mod rows;
mod scheduling;
mod threads;

#[unsafe(link_section = "license")]
#[unsafe(no_mangle)]
static LICENSE: [u8; 13] = *b"Dual MIT/GPL\0";
