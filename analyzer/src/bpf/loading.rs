//! Getting an object into the kernel: offsets from BTF, errors that say what is missing.

use anyhow::{Result, anyhow};
use aya::{
    Btf as AyaBtf, Ebpf, EbpfError,
    programs::{BtfTracePoint, Iter, Program, ProgramError},
};
use probes::ABSENT;
use reports::recording::Probe;

use crate::{
    advice::{Advise as _, advised},
    kernel::btf::Btf,
};

/// The kernel's types, in our form and in aya's.
pub(crate) struct KernelTypes {
    pub(crate) own: Btf,
    pub(crate) aya: AyaBtf,
}

impl KernelTypes {
    /// Reads them.
    ///
    /// # Errors
    /// When the kernel has none or they cannot be read.
    pub(crate) fn read() -> Result<Self> {
        let advice =
            "the kernel must be built with CONFIG_DEBUG_INFO_BTF, as the distributions' kernels since 2020 are";
        let own = Btf::of_running_kernel().hint(advice)?;
        Ok(Self { own, aya: AyaBtf::from_sys_fs().hint(advice)? })
    }

    /// Offset of a member that must be there.
    pub(crate) fn offset(&self, path: &str) -> Result<u32> {
        self.own.offset(path).hint(KERNEL_HINT)
    }

    /// Offset of a member, or the mark that the programs know as absent.
    pub(crate) fn offset_if_any(&self, path: &str) -> u32 {
        self.own.offset(path).unwrap_or(ABSENT)
    }
}

/// Why a hook is not used.
pub(crate) enum Off {
    /// The kernel has no such hook.
    NoHook,
    /// The kernel has it, but it does not tell what the program is for.
    NotTold(&'static str),
    /// The kernel refused the program.
    Refused(ProgramError),
}

impl Off {
    /// In words for the recording.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::NoHook => "this kernel has no such tracepoint".to_owned(),
            Self::NotTold(what) => format!("this kernel does not tell {what}"),
            Self::Refused(error) => first_line(error),
        }
    }
}

/// The error without the verifier's log, which can be hundreds of lines.
fn first_line(error: &ProgramError) -> String {
    let text = match error {
        ProgramError::LoadError { io_error, .. } => format!("the kernel refused the program: {io_error}"),
        ProgramError::SyscallError(error) => format!("{error}: {}", error.io_error),
        other => other.to_string(),
    };
    text.lines().next().unwrap_or_default().to_owned()
}

/// Tracepoints by their present name and by the one that older kernels have, with the same first arguments.
const RENAMED: [(&str, &str); 1] = [("io_uring_submit_req", "io_uring_submit_sqe")];

/// Verifies a tracepoint program of the same name as its hook.
pub(crate) fn load_tracepoint(ebpf: &mut Ebpf, hook: &str, types: &KernelTypes) -> Result<(), Off> {
    load_tracepoint_as(ebpf, hook, hook, types)
}

/// Verifies a tracepoint program with a name of its own.
pub(crate) fn load_tracepoint_as(ebpf: &mut Ebpf, name: &str, hook: &str, types: &KernelTypes) -> Result<(), Off> {
    let former = RENAMED.iter().filter(|(now, _)| *now == hook).map(|(_, former)| *former);
    let mut names = std::iter::once(hook).chain(former);
    let Some(hook) = names.find(|name| types.own.has_tracepoint(name)) else { return Err(Off::NoHook) };
    tracepoint(ebpf, name).load(hook, &types.aya).map_err(|error| {
        log::debug!("{name}: {error}");
        Off::Refused(error)
    })
}

/// Verifies an iterator over tasks.
pub(crate) fn load_task_iterator(ebpf: &mut Ebpf, name: &str, types: &KernelTypes) -> Result<()> {
    task_iterator(ebpf, name).load("task", &types.aya).map_err(|error| required(name, Off::Refused(error)))
}

/// The tracepoint program of that name.
pub(crate) fn tracepoint<'a>(ebpf: &'a mut Ebpf, name: &str) -> &'a mut BtfTracePoint {
    match ebpf.program_mut(name) {
        Some(Program::BtfTracePoint(program)) => program,
        _ => unreachable!("bug: the embedded object has no tp_btf program `{name}`"),
    }
}

/// The iterator program of that name.
pub(crate) fn task_iterator<'a>(ebpf: &'a mut Ebpf, name: &str) -> &'a mut Iter {
    match ebpf.program_mut(name) {
        Some(Program::Iter(program)) => program,
        _ => unreachable!("bug: the embedded object has no iterator `{name}`"),
    }
}

/// Error for a program without which nothing works.
pub(crate) fn required(name: &str, off: Off) -> anyhow::Error {
    if let Off::Refused(error) = &off {
        log::debug!("{name}: {error}");
    }
    let lacks_descriptors = matches!(&off, Off::Refused(ProgramError::LoadError { io_error, .. })
        if io_error.raw_os_error() == Some(libc::EMFILE));
    let hint = if lacks_descriptors { "allow more open files: ulimit -n 1024" } else { KERNEL_HINT };
    advised(anyhow!("failed to load the probe `{name}`: {}", off.reason()), hint)
}

/// Error for an object whose maps could not be made; without rights it says what to type.
pub(crate) fn object_refused(error: EbpfError) -> anyhow::Error {
    let error = anyhow::Error::new(error);
    let denied = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::PermissionDenied);
    let hint = if denied { PRIVILEGE_HINT } else { KERNEL_HINT };
    advised(error.context("failed to load the eBPF programs"), hint)
}

/// What a user of an older kernel can do.
pub(crate) const KERNEL_HINT: &str =
    "this version needs Linux 5.12 or later (`uname -r`); with -v the verifier's reasons are shown";

/// What a user without rights can type.
pub(crate) const PRIVILEGE_HINT: &str = "run it as root: sudo analyzer ... (CAP_BPF and CAP_PERFMON are needed)";

/// Recording's entry for a tracepoint.
pub(crate) fn tracepoint_entry(hook: &str, off: Option<&Off>) -> Probe {
    Probe { hook: hook.to_owned(), kind: "tp_btf".to_owned(), off_because: off.map(Off::reason) }
}
