//! What the running kernel is and has: types, system-call names, settings.

pub(crate) mod btf;
pub(crate) mod host;
pub(crate) mod syscall_names;
