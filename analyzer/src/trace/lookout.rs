//! Whether a family of processes listens: asked of the kernel, never guessed from time passing.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
};

use anyhow::Result;

use crate::sockets::{
    listeners::{Listener, ListenerQuery},
    owners::{Owner, owners_of, sockets_of},
};

/// Compares the listeners of now with those at its beginning.
pub(crate) struct Lookout {
    query: ListenerQuery,
    /// Cookies of sockets that listened already.
    earlier: BTreeSet<u64>,
}

impl Lookout {
    /// Notes who listens now.
    ///
    /// # Errors
    /// When the kernel does not answer.
    pub(crate) fn begin() -> Result<Self> {
        let query = ListenerQuery::open()?;
        let earlier = query.listeners()?.iter().map(|listener| listener.cookie).collect();
        Ok(Self { query, earlier })
    }

    /// Addresses on which the family listens since the beginning, sorted.
    ///
    /// # Errors
    /// When the kernel does not answer.
    pub(crate) fn new_of(&self, family: &[u32]) -> Result<Vec<SocketAddr>> {
        let new = self.query.listeners()?.into_iter().filter(|listener| !self.earlier.contains(&listener.cookie));
        Ok(held_by(family, new.collect()))
    }

    /// Addresses on which the family listens, sorted.
    ///
    /// # Errors
    /// When the kernel does not answer.
    pub(crate) fn all_of(&self, family: &[u32]) -> Result<Vec<SocketAddr>> {
        Ok(held_by(family, self.query.listeners()?))
    }
}

fn held_by(family: &[u32], listeners: Vec<Listener>) -> Vec<SocketAddr> {
    if listeners.is_empty() {
        return Vec::new();
    }
    let held: BTreeSet<u32> = family.iter().flat_map(|&pid| sockets_of(pid)).collect();
    let mut addresses: Vec<SocketAddr> =
        listeners.iter().filter(|listener| held.contains(&listener.inode)).map(|listener| listener.address).collect();
    addresses.sort();
    // Members of a SO_REUSEPORT group share theirs.
    addresses.dedup();
    addresses
}

/// Who holds the ports that a failed target's command line or output names, when it failed for want of an address.
pub(crate) fn holders_of_named_ports(argv: &[String], output: &str) -> Vec<String> {
    if !output.to_lowercase().contains("in use") {
        return Vec::new();
    }
    let Ok(listeners) = ListenerQuery::open().and_then(|query| query.listeners()) else { return Vec::new() };
    let ports = numbers_in(argv.iter().map(String::as_str).chain([output]));
    let listeners: Vec<Listener> =
        listeners.into_iter().filter(|listener| ports.contains(&listener.address.port())).collect();
    let owners = owners_of(&listeners.iter().map(|listener| listener.inode).collect());
    listeners.iter().map(|listener| holder(listener, &owners)).collect()
}

fn holder(listener: &Listener, owners: &BTreeMap<u32, Owner>) -> String {
    let owner = owners.get(&listener.inode).map_or_else(|| "a process not visible here".to_owned(), Owner::to_string);
    format!("port {} is taken by {owner}", listener.address.port())
}

fn numbers_in<'a>(texts: impl Iterator<Item = &'a str>) -> BTreeSet<u16> {
    texts.flat_map(|text| text.split(|c: char| !c.is_ascii_digit())).filter_map(|word| word.parse().ok()).collect()
}
