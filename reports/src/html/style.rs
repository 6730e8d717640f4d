//! How the page looks: on a phone, on a wide screen, on dark paper, and printed.

use crate::svg;

const SHEET: &str = "
:root{--paper:#fff;--text:#222;--quiet:#5a5a5a;--line:#d8d8d8;--band:#f6f6f6;--link:#005a8c;--alarm:#b34a00}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--text);font:16px/1.45 system-ui,sans-serif}
main,nav{max-width:68rem;margin:0 auto;padding:0 1rem}
h1{font-size:1.5rem;margin:1.5rem 0 .25rem;overflow-wrap:anywhere}
h2{font-size:1.2rem;margin:2.25rem 0 .5rem;padding-top:.5rem;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:1.5rem 0 .25rem;overflow-wrap:anywhere}
p{margin:.25rem 0;overflow-wrap:anywhere}
a{color:var(--link)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-999rem}
.skip:focus{left:1rem;top:.5rem;background:var(--paper);padding:.5rem}
.quiet,figcaption{color:var(--quiet);font-size:.9rem}
nav ol{margin:1rem 0;padding-left:1.5rem;columns:20rem}
nav li{overflow-wrap:anywhere}
ul.findings{list-style:none;margin:.5rem 0;padding:0}
.findings li{margin:.35rem 0;padding:.4rem .75rem;border-left:5px solid var(--line);background:var(--band);overflow-wrap:anywhere}
.findings .problem{border-color:var(--alarm)}
.findings .problem strong{color:var(--alarm)}
.findings .warning{border-color:#e69f00}
figure{margin:1.5rem 0 2.5rem}
.scroll{overflow-x:auto}
.drawing svg{display:block;width:100%;height:auto;min-width:44rem}
details{margin:.5rem 0}
summary{cursor:pointer;color:var(--link);padding:.25rem 0}
table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}
th,td{padding:.2rem .6rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
th{position:sticky;top:0;background:var(--paper);vertical-align:bottom;white-space:normal;min-width:4rem}
th.text,td.text{text-align:left}
td.text{white-space:normal;overflow-wrap:anywhere;min-width:8rem;max-width:34rem}
tbody tr:nth-child(even){background:var(--band)}
.report+.report{margin-top:3rem;border-top:4px solid var(--line)}
";

const PRINTED: &str = "
@media print{nav,.skip,details{display:none}body{font-size:11pt}.scroll{overflow:visible}
.drawing svg{min-width:0}figure,tr,.findings li{break-inside:avoid}h2,h3{break-after:avoid}.report+.report{break-before:page}}
";

/// The page's style sheet.
pub(super) fn sheet() -> String {
    let variables = ":root{--paper:#16181c;--text:#e8e8e8;--quiet:#b0b4ba;--line:#3a3e45;--band:#1d2025;--link:#7cc4f0;--alarm:#ff9b5c}";
    // Paper that is printed on is white.
    let dark = format!("@media screen and (prefers-color-scheme:dark){{{variables}\n{}}}\n", svg::dark());
    format!("{SHEET}{PRINTED}{dark}")
}
