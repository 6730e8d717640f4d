//! In what order listeners are shown: the worst first, members of a group below their group. Pure.

use std::cmp::Reverse;

use super::round::{Group, NetnsRound, Round, Row};

/// What decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sort {
    #[default]
    Drops,
    Rate,
    Queue,
    Fill,
    Wait,
    Address,
}

impl Sort {
    /// The next in turn.
    pub(crate) fn next(self) -> Self {
        match self {
            Self::Drops => Self::Rate,
            Self::Rate => Self::Queue,
            Self::Queue => Self::Fill,
            Self::Fill => Self::Wait,
            Self::Wait => Self::Address,
            Self::Address => Self::Drops,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Drops => "drops",
            Self::Rate => "drops/s",
            Self::Queue => "queue",
            Self::Fill => "fill",
            Self::Wait => "wait",
            Self::Address => "address",
        }
    }

    /// Larger is worse; in thousandths, so that it can be ordered.
    fn badness(self, row: &Row) -> u64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "never negative, and saturating")]
        let thousandths = |value: f64| (value * 1e3) as u64;
        match self {
            Self::Drops => row.drops,
            Self::Rate => thousandths(row.drops_per_s),
            Self::Queue => u64::from(row.queue),
            Self::Fill => thousandths(row.fill),
            Self::Wait => row.accept_wait.and_then(|wait| wait.recent.p50_ns).unwrap_or(0),
            Self::Address => 0,
        }
    }
}

/// A line of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entry<'a> {
    Group(&'a Group),
    Row(&'a Row),
}

/// All listeners of a round in order. A group stands where its worst member would.
pub(crate) fn arranged(round: &Round, sort: Sort) -> Vec<Entry<'_>> {
    let mut blocks: Vec<Block<'_>> = round.namespaces.iter().flat_map(blocks).collect();
    for block in &mut blocks {
        block.members.sort_by_key(|row| (key(sort, row), row.cookie));
    }
    blocks.sort_by_key(|block| block.members.first().map(|row| key(sort, row)));
    blocks.into_iter().flat_map(Block::entries).collect()
}

fn key(sort: Sort, row: &Row) -> impl Ord + use<> {
    // By address, nothing else counts before it.
    let fill = if sort == Sort::Address { 0 } else { Sort::Fill.badness(row) };
    (Reverse(sort.badness(row)), Reverse(fill), row.address.port(), row.address.ip(), row.netns)
}

/// A group with its members, or a listener alone.
struct Block<'a> {
    group: Option<&'a Group>,
    members: Vec<&'a Row>,
}

impl<'a> Block<'a> {
    fn entries(self) -> impl Iterator<Item = Entry<'a>> {
        self.group.map(Entry::Group).into_iter().chain(self.members.into_iter().map(Entry::Row))
    }
}

fn blocks(netns: &NetnsRound) -> Vec<Block<'_>> {
    let members = |group: Option<usize>| netns.listeners.iter().filter(move |row| row.group == group);
    let alone = members(None).map(|row| Block { group: None, members: vec![row] });
    let groups = netns.groups.iter().enumerate();
    let groups = groups.map(|(place, group)| Block { group: Some(group), members: members(Some(place)).collect() });
    alone.chain(groups).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::{
        groups,
        sample::{round, row},
    };

    fn shown(round: &Round, sort: Sort) -> Vec<String> {
        let text = |entry: &Entry<'_>| match entry {
            Entry::Group(group) => format!("group of {}", group.members),
            Entry::Row(row) => format!("{} {}", row.address.port(), row.drops),
        };
        arranged(round, sort).iter().map(text).collect()
    }

    fn some() -> Round {
        let with = |port: u16, drops, queue| Row { queue, drops, ..row(&format!("0.0.0.0:{port}")) };
        let mut rows = vec![with(80, 5, 9), with(443, 1, 0), with(443, 8, 2), with(22, 0, 1)];
        rows[2].cookie = 2;
        let groups = groups::found(&mut rows, |_| 0);
        let mut round = round(rows);
        round.namespaces[0].groups = groups;
        round
    }

    #[test]
    fn the_worst_is_first_and_members_stand_below_their_group() {
        assert_eq!(shown(&some(), Sort::Drops), ["group of 2", "443 8", "443 1", "80 5", "22 0"]);
        assert_eq!(shown(&some(), Sort::Queue), ["80 5", "group of 2", "443 8", "443 1", "22 0"]);
        assert_eq!(shown(&some(), Sort::Address), ["22 0", "80 5", "group of 2", "443 1", "443 8"]);
    }

    #[test]
    fn a_group_sums_its_members_and_counts_the_full_ones() {
        let mut rows = vec![row("0.0.0.0:1"), Row { queue: 129, ..row("0.0.0.0:1") }, row("0.0.0.0:2")];
        let groups = groups::found(&mut rows, |_| 0);
        assert_eq!((groups.len(), groups[0].members, groups[0].queue, groups[0].limit), (1, 2, 132, 256));
        assert_eq!((groups[0].full, groups[0].drops), (1, 542));
        assert_eq!(rows.iter().map(|row| row.group).collect::<Vec<_>>(), [Some(0), Some(0), None]);
    }

    #[test]
    fn sockets_on_different_devices_are_no_group() {
        let mut rows = vec![row("0.0.0.0:1"), row("0.0.0.0:1")];
        rows[1].cookie = 2;
        assert!(groups::found(&mut rows, |cookie| u32::try_from(cookie).unwrap_or(0)).is_empty());
    }

    #[test]
    fn every_order_comes_in_turn() {
        let mut sort = Sort::default();
        let mut names = Vec::new();
        for _ in 0..6 {
            names.push(sort.name());
            sort = sort.next();
        }
        assert_eq!(names, ["drops", "drops/s", "queue", "fill", "wait", "address"]);
        assert_eq!(sort, Sort::Drops);
    }
}
