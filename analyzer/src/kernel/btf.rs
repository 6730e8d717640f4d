//! The running kernel's type information: where members lie, which hooks there are.
//!
//! Only what the probes ask for. The format is in the kernel's `Documentation/bpf/btf.rst` (v6.18).

mod enums;

use std::{collections::HashMap, fs, path::Path};

/// Where the kernel shows its own BTF.
pub(crate) const VMLINUX: &str = "/sys/kernel/btf/vmlinux";

const MAGIC: u16 = 0xeb9f;

mod kind {
    pub(super) const STRUCT: u32 = 4;
    pub(super) const UNION: u32 = 5;
    pub(super) const TYPEDEF: u32 = 8;
    pub(super) const VOLATILE: u32 = 9;
    pub(super) const CONST: u32 = 10;
    pub(super) const RESTRICT: u32 = 11;
    pub(super) const FUNC: u32 = 12;
    pub(super) const TYPE_TAG: u32 = 18;
}

/// Why the kernel's types could not be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BtfError {
    #[error("failed to read `{VMLINUX}`")]
    Read(#[source] std::io::Error),
    #[error("`{VMLINUX}` is not BTF as this version knows it ({0})")]
    Format(&'static str),
    #[error("this kernel has no `{0}`")]
    Missing(String),
}

/// Parsed type information.
pub(crate) struct Btf {
    data: Vec<u8>,
    strings: usize,
    /// Place of each type's record, by type id.
    types: Vec<usize>,
    /// Types by the place of their name.
    by_name: HashMap<u32, Vec<u32>>,
}

/// Head of a type's record.
struct Record {
    name: u32,
    kind: u32,
    members: usize,
    size_or_type: u32,
    has_bitfields: bool,
}

impl Btf {
    /// Reads the running kernel's.
    pub(crate) fn of_running_kernel() -> Result<Self, BtfError> {
        Self::parse(fs::read(Path::new(VMLINUX)).map_err(BtfError::Read)?)
    }

    fn parse(data: Vec<u8>) -> Result<Self, BtfError> {
        let cut = BtfError::Format("cut off");
        let word = |at| u32_at(&data, at);
        if data.get(..2) != Some(&MAGIC.to_ne_bytes()) {
            return Err(BtfError::Format("wrong magic"));
        }
        let (Some(header), Some(types_at), Some(types_len), Some(strings_at)) = (word(4), word(8), word(12), word(16))
        else {
            return Err(cut);
        };
        let mut at = header as usize + types_at as usize;
        let end = at + types_len as usize;
        let mut types = vec![0];
        let mut by_name: HashMap<u32, Vec<u32>> = HashMap::new();
        while at < end {
            let id = u32::try_from(types.len()).map_err(|_| BtfError::Format("too many types"))?;
            types.push(at);
            let record = record_at(&data, at).ok_or(BtfError::Format("cut off"))?;
            if record.name != 0 {
                by_name.entry(record.name).or_default().push(id);
            }
            at += 12 + payload_len(&record).ok_or(BtfError::Format("unknown kind of type"))?;
        }
        Ok(Self { strings: header as usize + strings_at as usize, data, types, by_name })
    }

    /// Byte offset of a member, as in `sock.__sk_common.skc_state`. Anonymous structures need not be named.
    pub(crate) fn offset(&self, path: &str) -> Result<u32, BtfError> {
        let missing = || BtfError::Missing(path.to_owned());
        let mut steps = path.split('.');
        let mut id = self.structure(steps.next().unwrap_or_default()).ok_or_else(missing)?;
        let mut bits = 0;
        for step in steps {
            let (offset, member) = self.member(id, step).ok_or_else(missing)?;
            bits += offset;
            id = self.resolved(member).ok_or_else(missing)?;
        }
        if bits % 8 == 0 { Ok(bits / 8) } else { Err(missing()) }
    }

    /// Whether the kernel has a tracepoint that tp_btf programs can attach to.
    pub(crate) fn has_tracepoint(&self, name: &str) -> bool {
        self.has(kind::TYPEDEF, &format!("btf_trace_{name}"))
    }

    /// Whether the kernel has a function of that name, such as the one behind a BPF helper.
    pub(crate) fn has_function(&self, name: &str) -> bool {
        self.has(kind::FUNC, name)
    }

    fn has(&self, kind: u32, name: &str) -> bool {
        self.named(name).any(|(_, record)| record.kind == kind)
    }

    /// The types of that name. Each name is stored once, so its place stands for it.
    fn named(&self, name: &str) -> impl Iterator<Item = (u32, Record)> + '_ {
        let wanted = [b"\0", name.as_bytes(), b"\0"].concat();
        let strings = self.data.get(self.strings..).unwrap_or_default();
        let place = memchr::memmem::find(strings, &wanted).and_then(|before| u32::try_from(before + 1).ok());
        let ids = place.and_then(|place| self.by_name.get(&place));
        ids.into_iter().flatten().filter_map(|&id| Some((id, self.record(id)?)))
    }

    fn structure(&self, name: &str) -> Option<u32> {
        let is_it = |record: &Record| matches!(record.kind, kind::STRUCT | kind::UNION) && record.members > 0;
        self.named(name).find(|(_, record)| is_it(record)).map(|(id, _)| id)
    }

    fn record(&self, id: u32) -> Option<Record> {
        record_at(&self.data, *self.types.get(id as usize).filter(|&&at| at > 0)?)
    }

    /// Follows names and qualifiers to the type behind them.
    fn resolved(&self, mut id: u32) -> Option<u32> {
        loop {
            let Some(record) = self.record(id) else { return (id == 0).then_some(0) };
            match record.kind {
                kind::TYPEDEF | kind::VOLATILE | kind::CONST | kind::RESTRICT | kind::TYPE_TAG => {
                    id = record.size_or_type;
                }
                _ => return Some(id),
            }
        }
    }

    /// Bit offset and type of a member, looking into anonymous members as C does.
    fn member(&self, id: u32, name: &str) -> Option<(u32, u32)> {
        let record = self.record(id).filter(|record| matches!(record.kind, kind::STRUCT | kind::UNION))?;
        let first = self.types[id as usize] + 12;
        (0..record.members).find_map(|index| {
            let at = first + 12 * index;
            let (name_at, member, raw) =
                (u32_at(&self.data, at)?, u32_at(&self.data, at + 4)?, u32_at(&self.data, at + 8)?);
            let offset = if record.has_bitfields { raw & 0x00ff_ffff } else { raw };
            match self.string(name_at) {
                found if found == name.as_bytes() => Some((offset, member)),
                [] => self.member(self.resolved(member)?, name).map(|(inner, kind)| (offset + inner, kind)),
                _ => None,
            }
        })
    }

    fn string(&self, at: u32) -> &[u8] {
        let rest = self.data.get(self.strings + at as usize..).unwrap_or_default();
        rest.split(|&byte| byte == 0).next().unwrap_or_default()
    }
}

fn u32_at(data: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(data.get(at..at + 4)?.try_into().ok()?))
}

fn record_at(data: &[u8], at: usize) -> Option<Record> {
    let info = u32_at(data, at + 4)?;
    Some(Record {
        name: u32_at(data, at)?,
        kind: info >> 24 & 31,
        members: (info & 0xffff) as usize,
        size_or_type: u32_at(data, at + 8)?,
        has_bitfields: info >> 31 == 1,
    })
}

/// Bytes that follow the 12-byte head of a record, by kind.
fn payload_len(record: &Record) -> Option<usize> {
    Some(match record.kind {
        // INT, VAR, DECL_TAG
        1 | 14 | 17 => 4,
        // ARRAY
        3 => 12,
        // STRUCT, UNION, DATASEC, ENUM64
        4 | 5 | 15 | 19 => 12 * record.members,
        // ENUM, FUNC_PROTO
        6 | 13 => 8 * record.members,
        // PTR, FWD, TYPEDEF, VOLATILE, CONST, RESTRICT, FUNC, FLOAT, TYPE_TAG
        2 | 7..=12 | 16 | 18 => 0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_the_running_kernel_are_found_through_anonymous_and_nested_structures() {
        let btf = Btf::of_running_kernel().expect("a kernel with BTF");
        assert_eq!(btf.offset("list_head.prev").expect("there"), 8);
        assert!(btf.offset("task_struct.tgid").expect("there") > btf.offset("task_struct.thread_info").expect("there"));
        // skc_dport lies in an anonymous structure in an anonymous union.
        assert!(btf.offset("sock.__sk_common.skc_dport").is_ok());
        assert!(btf.offset("sock.__sk_common.skc_net.net").is_ok());
    }

    #[test]
    fn what_the_kernel_lacks_is_named() {
        let btf = Btf::of_running_kernel().expect("a kernel with BTF");
        let error = btf.offset("task_struct.no_such_member").expect_err("not there");
        assert_eq!(error.to_string(), "this kernel has no `task_struct.no_such_member`");
        assert!(btf.has_tracepoint("sys_enter"));
        assert!(!btf.has_tracepoint("no_such_tracepoint"));
        assert!(btf.has_function("bpf_task_pt_regs"));
    }

    #[test]
    fn damaged_type_information_is_an_error_not_a_panic() {
        assert!(Btf::parse(Vec::new()).is_err());
        assert!(Btf::parse(b"not btf at all, but long enough for a header".to_vec()).is_err());
        let whole = fs::read(VMLINUX).expect("a kernel with BTF");
        assert!(Btf::parse(whole[..1000].to_vec()).is_err());
    }
}
