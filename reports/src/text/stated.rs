//! Figures that another tool printed and that cannot be computed from anything: as they stand there.

use super::{
    grid::Grid,
    page::Page,
    style::{Style, Tone},
};
use crate::{
    printable::{clipped, printable},
    recording::{Recording, Stated},
    units,
};

/// Owners that are listed; the JSON report has all.
const SHOWN: usize = 40;

pub(super) fn write(page: &mut Page, recording: &Recording, style: &Style) {
    let Some(origin) = recording.origin.as_ref().filter(|origin| !origin.stated.is_empty()) else { return };
    let (mut owners, mut measures): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for Stated { owner, measure, .. } in &origin.stated {
        for (list, word) in [(&mut owners, owner), (&mut measures, measure)] {
            if !list.contains(&word.as_str()) {
                list.push(word);
            }
        }
    }
    page.blank();
    page.heading(&format!("as {} printed it, rounded there; no distribution behind it", printable(&origin.tool)));
    let clipped_names: Vec<String> = measures.iter().map(|measure| clipped(measure, super::NAME_COLUMNS)).collect();
    let header: Vec<&str> = std::iter::once("of").chain(clipped_names.iter().map(String::as_str)).collect();
    let mut grid = Grid::new(&[0], &header);
    for owner in owners.iter().take(SHOWN) {
        let figure = |measure: &&str| {
            let stated = origin.stated.iter().find(|stated| stated.owner == *owner && stated.measure == *measure);
            stated.map_or("-".to_owned(), shown)
        };
        let cells = std::iter::once(clipped(owner, super::NAME_COLUMNS)).chain(measures.iter().map(figure)).collect();
        grid.row(Tone::Plain, cells);
    }
    page.block(&grid.render(style));
    if owners.len() > SHOWN {
        page.line(Tone::Quiet, &format!("  and {} more", owners.len() - SHOWN));
    }
}

/// What was rounded to nothing is not nothing.
fn shown(stated: &Stated) -> String {
    match stated.value_ns {
        0 => format!("<{}", units::duration(stated.resolution_ns)),
        value => units::duration(value),
    }
}
