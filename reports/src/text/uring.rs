//! `io_uring` operations by opcode.

use super::{
    grid::Grid,
    page::Page,
    style::{Style, Tone},
};
use crate::{printable::clipped, recording::IoUring, units};

pub(super) fn write(page: &mut Page, operations: &[IoUring], style: &Style) {
    if operations.is_empty() {
        return;
    }
    page.blank();
    page.line(Tone::Strong, "  io_uring operations, which no system call stands for");
    let mut grid =
        Grid::new(&[0], &["opcode", "submitted", "completed", "errors", "mean", "p50", "p99", "max"]).sparing(&[4]);
    for operation in operations {
        let latency = &operation.latency;
        let time = |ns: Option<u64>| ns.map_or("-".to_owned(), units::duration);
        grid.row(
            Tone::Plain,
            vec![
                clipped(&operation.opcode, super::NAME_COLUMNS),
                units::count(operation.submitted),
                units::count(operation.completed),
                units::count(operation.errors),
                latency.mean().map_or("-".to_owned(), units::duration_f64),
                time(latency.quantile(0.5)),
                time(latency.quantile(0.99)),
                time(latency.max()),
            ],
        );
    }
    page.block(&grid.render(style));
    page.line(Tone::Quiet, "  times: submission to first completion; multishot: further completions of one operation");
}
