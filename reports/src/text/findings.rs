//! What a run says about itself, ahead of its tables.

use super::{page::Page, style::Tone};
use crate::{
    findings::{self, Severity},
    printable::printable,
    recording::Recording,
};

pub(super) fn write(page: &mut Page, recording: &Recording) {
    page.blank();
    page.heading("findings");
    let findings = findings::of(recording);
    if findings.is_empty() {
        page.line(Tone::Plain, &format!("  {}", findings::NONE));
    }
    for finding in findings {
        let tone = match finding.severity {
            Severity::Problem => Tone::Alarm,
            Severity::Warning => Tone::Strong,
            Severity::Note => Tone::Quiet,
        };
        page.prose(tone, 4, &format!("  {}: {}", finding.severity.name(), printable(&finding.text)));
    }
}
