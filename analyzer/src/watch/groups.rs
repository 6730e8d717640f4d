//! `SO_REUSEPORT` groups: several sockets may listen on one address in no other way. Pure.

use std::{collections::BTreeMap, net::SocketAddr};

use super::round::{Group, Row, fill};

/// Finds the groups among the listeners of one namespace, and tells the members which is theirs.
///
/// `interface` gives the network device that a socket is bound to: sockets on different ones do not share connections.
pub(crate) fn found(rows: &mut [Row], interface: impl Fn(u64) -> u32) -> Vec<Group> {
    let mut by_address: BTreeMap<(SocketAddr, u32), Vec<usize>> = BTreeMap::new();
    for (place, row) in rows.iter().enumerate().filter(|(_, row)| !row.gone) {
        by_address.entry((row.address, interface(row.cookie))).or_default().push(place);
    }
    let mut groups = Vec::new();
    for ((address, _), members) in by_address.into_iter().filter(|(_, members)| members.len() > 1) {
        for &member in &members {
            rows[member].group = Some(groups.len());
        }
        let each = || members.iter().map(|&member| &rows[member]);
        let (queue, limit) =
            (each().map(|row| u64::from(row.queue)).sum(), each().map(|row| u64::from(row.limit)).sum());
        groups.push(Group {
            address,
            netns: rows[members[0]].netns,
            members: members.len(),
            queue,
            limit,
            fill: fill(queue, limit, members.len() as u64),
            drops: each().map(|row| row.drops).sum(),
            drops_per_s: each().map(|row| row.drops_per_s).sum(),
            full: each().filter(|row| row.queue > row.limit).count(),
        });
    }
    groups
}
