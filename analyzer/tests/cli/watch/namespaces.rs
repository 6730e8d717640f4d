//! Listeners of other network namespaces.

use super::scenario::{causes, figure, scenario};
use crate::support::needs_root;

/// A second namespace: a child that listens on the same port, and connects there.
const OTHER: &str = "
start, stop = os.pipe()
child = os.fork()
if child == 0:
    os.close(stop)
    ctypes.CDLL(None).unshare(0x40000000)
    subprocess.run(['ip', 'link', 'set', 'lo', 'up'], check=True)
    listen(7001, 4)
    os.read(start, 1); connect(7001, 20)
    os.read(start, 1); os._exit(0)
settle(0.2)
listen(7001, 16)
";

#[test]
fn two_listeners_on_one_port_in_two_namespaces_are_two_rows_each_with_its_own_drops() {
    needs_root!();
    for netns in ["'--netns', str(child), '--netns', str(os.getpid())", "'--netns', 'all'"] {
        let seen = scenario(&format!(
            "import ctypes\n{OTHER}
watch({netns}, '--port', '7001'); os.write(stop, b'x'); connect(7001, 60); report(); os.write(stop, b'x')"
        ));
        seen.assert_lossless();
        // Other tests may have listeners on the port in namespaces of theirs.
        let mut mine = seen.listeners();
        mine.retain(|row| [4, 16].contains(&figure(row, "limit")) && figure(row, "queue") > 0);
        let mut found: Vec<_> = mine.iter().map(|row| (figure(row, "limit"), causes(row))).collect();
        found.sort_unstable();
        assert!(found.contains(&(4, [15, 0, 0, 0])) && found.contains(&(16, [43, 0, 0, 0])), "{found:?}");
        let netns = |limit| mine.iter().find(|row| figure(row, "limit") == limit).unwrap()["netns"].as_i64();
        assert_ne!(netns(4), netns(16));
    }
}
