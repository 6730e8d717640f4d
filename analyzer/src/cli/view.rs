//! How the table of system calls is to look: the same words after `trace` and `report`.

use clap::Args;
use reports::text::{Column, View};

/// Columns and order.
#[derive(Clone, Debug, Args)]
pub(crate) struct ViewArgs {
    /// Columns of the system-call table, separated by commas; a word that is none lists them
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    columns: Vec<Column>,
    /// Column by which its rows are sorted
    #[arg(long, value_name = "NAME", default_value = "total")]
    sort: Column,
}

impl ViewArgs {
    /// As the tables take it.
    pub(crate) fn view(&self) -> View {
        View { columns: self.columns.clone(), sort: self.sort }
    }
}
