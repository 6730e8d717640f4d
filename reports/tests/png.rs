//! Pictures of charts.

mod recordings;

use reports::png::Painter;

/// As bright as paper or not: letters are there when some dots in the title's place are dark.
#[test]
fn a_picture_shows_its_letters_also_on_a_machine_without_fonts() {
    let recording = recordings::typical();
    let charts = reports::svg::of_run(&recording, "run");
    let figure = charts.iter().find_map(|chart| chart.figure.as_ref()).expect("a chart");
    let picture = Painter::default().png(&figure.svg()).expect("drawable");
    let dots = resvg::tiny_skia::Pixmap::decode_png(&picture).expect("a picture");
    let title = (30..70).flat_map(|y| (40..600).map(move |x| (x, y)));
    let dark = title.filter(|&(x, y)| dots.pixel(x, y).is_some_and(|dot| dot.red() < 100)).count();
    assert!(dark > 500, "{dark} dark dots");
}
