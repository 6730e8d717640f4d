//! Values of enumerators, and how many arguments a tracepoint gives.

use super::{Btf, kind, u32_at};

const ENUM: u32 = 6;
const PTR: u32 = 2;
const FUNC_PROTO: u32 = 13;

impl Btf {
    /// Value of an enumerator, which differs from kernel to kernel; `None` when this one does not have it.
    pub(crate) fn enumerator(&self, of: &str, name: &str) -> Option<u32> {
        let (id, found) = self.named(of).find(|(_, record)| record.kind == ENUM)?;
        let first = self.types[id as usize] + 12;
        (0..found.members).find_map(|index| {
            let at = first + 8 * index;
            let is_it = self.string(u32_at(&self.data, at)?) == name.as_bytes();
            is_it.then(|| u32_at(&self.data, at + 4))?
        })
    }

    /// Number of arguments that a tp_btf program of a tracepoint sees; `None` when there is no such tracepoint.
    pub(crate) fn tracepoint_arguments(&self, name: &str) -> Option<usize> {
        let mut typedefs = self.named(&format!("btf_trace_{name}"));
        let (_, record) = typedefs.find(|(_, record)| record.kind == kind::TYPEDEF)?;
        let pointer = self.record(self.resolved(record.size_or_type)?).filter(|record| record.kind == PTR)?;
        let function = self.record(pointer.size_or_type).filter(|record| record.kind == FUNC_PROTO)?;
        // The first is the tracer's own.
        function.members.checked_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enumerators_and_arguments_of_the_running_kernel_are_found() {
        let btf = Btf::of_running_kernel().expect("a kernel with BTF");
        assert_eq!(btf.enumerator("sock_flags", "SOCK_DONE"), Some(1));
        assert_eq!(btf.enumerator("sock_flags", "SOCK_NO_SUCH"), None);
        assert_eq!(btf.enumerator("no_such_enum", "SOCK_DONE"), None);
        assert_eq!(btf.tracepoint_arguments("sys_exit"), Some(2));
        assert_eq!(btf.tracepoint_arguments("inet_sock_set_state"), Some(3));
        assert_eq!(btf.tracepoint_arguments("no_such_tracepoint"), None);
    }
}
