//! How the table of system calls is to look: the same words after `trace` and `report`.

use clap::Args;
use reports::text::{Column, View};

/// Columns and order.
#[derive(Clone, Debug, Args)]
pub(crate) struct ViewArgs {
    // Its help is made of the columns' own words.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help = columns_help())]
    columns: Vec<Column>,
    /// Column by which its rows are sorted
    #[arg(long, value_name = "NAME", default_value = "total")]
    sort: Column,
    /// Give every system call its row, those below 0.1 % of the time too
    #[arg(long)]
    all_calls: bool,
}

fn columns_help() -> String {
    format!("Columns of the system-call table, separated by commas, of: {}", Column::names().join(", "))
}

impl ViewArgs {
    /// As the tables take it.
    pub(crate) fn view(&self) -> View {
        View { columns: self.columns.clone(), sort: self.sort, all: self.all_calls }
    }
}
