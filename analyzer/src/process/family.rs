//! A process and what descends from it.

use procfs::process::{Process, all_processes};

/// The process and its descendants that exist now, the process first.
///
/// Descendants whose own parent has ended are not found: they belong to whoever reaps them (see `orphans`).
pub(crate) fn family_of(pid: u32) -> Vec<u32> {
    let mut family = vec![pid];
    let mut next = 0;
    while let Some(&member) = family.get(next) {
        next += 1;
        let known = children_of(member).into_iter().filter(|child| !family.contains(child)).collect::<Vec<_>>();
        family.extend(known);
    }
    family
}

/// Processes that a process has for children now.
pub(crate) fn children_of(pid: u32) -> Vec<u32> {
    let tasks = process(pid).and_then(|process| process.tasks().ok());
    let lists: Vec<_> = tasks.into_iter().flatten().flatten().map(|task| task.children()).collect();
    if lists.iter().any(Result::is_ok) {
        return lists.into_iter().flatten().flatten().collect();
    }
    // Without CONFIG_PROC_CHILDREN there are no such lists: ask every process for its parent.
    let all = all_processes().into_iter().flatten().flatten().filter_map(|process| process.stat().ok());
    let children = all.filter(|stat| u32::try_from(stat.ppid) == Ok(pid));
    children.filter_map(|stat| u32::try_from(stat.pid).ok()).collect()
}

/// A process by its number, if there is one.
fn process(pid: u32) -> Option<Process> {
    Process::new(i32::try_from(pid).ok()?).ok()
}

/// Name of a process as the kernel has it (at most 15 bytes).
pub(crate) fn command_of(pid: u32) -> Option<String> {
    Some(process(pid)?.stat().ok()?.comm)
}

/// Whether the first thread of a process waits for something.
pub(crate) fn is_asleep(pid: u32) -> bool {
    process(pid).and_then(|process| process.stat().ok()).is_some_and(|stat| stat.state == 'S')
}

/// Command line of a process.
pub(crate) fn argv_of(pid: u32) -> Vec<String> {
    process(pid).and_then(|process| process.cmdline().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_grandchild_belongs_to_the_family() {
        let mut child = Command::new("sh").args(["-c", "sleep 5 & wait"]).spawn().expect("sh");
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(4);
        let mut commands = Vec::new();
        let mut family = Vec::new();
        while commands.len() < 2 && std::time::Instant::now() < deadline {
            family = family_of(child.id());
            commands = family[1..].iter().filter_map(|&pid| command_of(pid)).filter(|name| name == "sleep").collect();
            commands.extend(family_of(std::process::id()).contains(&child.id()).then(|| "child".to_owned()));
        }
        assert_eq!(commands, ["sleep", "child"]);
        let grandchild = family[1];
        let grandchild = rustix::process::Pid::from_raw(i32::try_from(grandchild).expect("a pid")).expect("not 0");
        rustix::process::kill_process(grandchild, rustix::process::Signal::KILL).expect("ours");
        child.wait().expect("waited");
    }
}
