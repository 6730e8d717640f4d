//! `echo-uring` where there is no io_uring for it.

use std::process::Command;

use crate::{
    models::uring,
    process::{skip, stderr},
};

#[test]
fn without_io_uring_it_says_so_and_what_to_do() {
    let name = "without_io_uring_it_says_so_and_what_to_do";
    for (errno, hint) in [("ENOSYS", "it takes Linux 6.0"), ("EPERM", "kernel.io_uring_disabled")] {
        let inject = format!("inject=io_uring_setup:error={errno}");
        let mut command = Command::new("strace");
        command.args(["-f", "-o", "/dev/null", "-e", &inject, uring().binary, "--port", "0"]);
        let Ok(output) = command.output() else { return skip(name, "there is no `strace`") };
        let text = stderr(&output);
        if text.contains("ptrace") {
            return skip(name, &format!("`strace` may not trace: {text}"));
        }
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("failed to set up io_uring") && text.contains(hint), "{text}");
    }
}
