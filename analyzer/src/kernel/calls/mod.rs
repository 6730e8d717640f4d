//! System calls by name: the tables of each ABI, classes of calls, error numbers, and the set that a run counts.

mod class;
mod names;
mod returns;
mod selection;

pub(crate) use names::{ACCEPT, ACCEPT4, EXECVE, abi_of, errno_name, name_of, opcode_name};
pub(crate) use returns::{kind_of_return, valued};
pub(crate) use selection::{Bitmap, Selection};
