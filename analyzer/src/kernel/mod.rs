//! What the running kernel is and has: types, system-call names, settings, namespaces.

pub(crate) mod btf;
pub(crate) mod calls;
pub(crate) mod host;
pub(crate) mod netns;
pub(crate) mod usage;
