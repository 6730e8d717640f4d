//! Reads the kernel for `watch`: sockets and counters of each namespace, and what the probes saw.
//!
//! Enters a namespace once, to open what can be read from anywhere afterwards.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use jiff::Timestamp;
use reports::counters::CounterFiles;

use super::{
    args::WatchArgs,
    history::{Ending, History, Look, listen_counters},
    namespaces::{self, Named, Wanted},
    round::{NetnsRound, Round},
    settings::SettingFiles,
};
use crate::{
    bpf::watch::{ListenerSeen, WatchProbes},
    kernel::netns::Netns,
    sockets::{
        listeners::{Listener, ListenerQuery},
        owners::owners_of,
    },
};

/// How often `--netns all` looks for new ones: it walks through all processes.
const SEARCH_PAUSE: Duration = Duration::from_secs(5);

/// One network namespace, held open.
struct Namespace {
    netns: Netns,
    name: Option<String>,
    query: ListenerQuery,
    counters: CounterFiles,
    settings: SettingFiles,
    history: History,
}

/// All that is watched.
pub(crate) struct Collector {
    wanted: Vec<Wanted>,
    namespaces: Vec<Namespace>,
    probes: Option<WatchProbes>,
    missing: Vec<String>,
    /// Listeners of the last look, whose events the probes keep.
    known: BTreeSet<u64>,
    searched_at: Instant,
    began: Instant,
    round_began: Instant,
}

impl Collector {
    /// Attaches the probes, opens the namespaces and takes the first look.
    ///
    /// # Errors
    /// When a namespace cannot be opened or the kernel does not answer. Probes that cannot be had are only missed.
    pub(crate) fn begin(args: &WatchArgs) -> Result<Self> {
        let mut missing = Vec::new();
        let probes = match args {
            WatchArgs { once: true, .. } => without_probes(&mut missing, "--once"),
            WatchArgs { no_probes: true, .. } => without_probes(&mut missing, "--no-probes"),
            _ => probes(&mut missing),
        };
        if !rustix::process::geteuid().is_root() {
            missing.push("owners of other users' sockets: that needs root (sudo analyzer watch)".to_owned());
        }
        missing.extend(probes.iter().flat_map(WatchProbes::missing));
        missing.dedup();
        let now = Instant::now();
        let mut collector = Self {
            wanted: args.netns.clone(),
            namespaces: Vec::new(),
            probes,
            missing,
            known: BTreeSet::new(),
            searched_at: now,
            began: now,
            round_began: now,
        };
        collector.open_namespaces()?;
        Ok(collector)
    }

    pub(crate) fn has_probes(&self) -> bool {
        self.probes.is_some()
    }

    /// What cannot be told here.
    pub(crate) fn missing(&self) -> &[String] {
        &self.missing
    }

    /// A look between rounds.
    ///
    /// # Errors
    /// When the kernel does not answer.
    pub(crate) fn look(&mut self) -> Result<()> {
        for namespace in &mut self.namespaces {
            namespace.look(self.probes.as_ref())?;
        }
        Ok(())
    }

    /// Ends an interval.
    ///
    /// # Errors
    /// When the kernel does not answer.
    pub(crate) fn round(&mut self) -> Result<Round> {
        if self.wanted.contains(&Wanted::All) && self.searched_at.elapsed() >= SEARCH_PAUSE {
            self.searched_at = Instant::now();
            self.let_go();
            self.open_namespaces()?;
        }
        let mut known = BTreeSet::new();
        let probes = self.probes.as_ref();
        let endings = self.namespaces.iter_mut().map(|namespace| namespace.last_look(probes, &mut known));
        let endings = endings.collect::<Result<Vec<_>>>()?;
        self.name_owners();
        let ended = self.namespaces.iter_mut().zip(endings);
        let namespaces = ended.map(|(namespace, ending)| namespace.round(ending)).collect();
        let closed: Vec<u64> = self.known.difference(&known).copied().collect();
        self.known = known;
        let lost = self.probes.as_ref().map(WatchProbes::lost).transpose()?;
        if let Some(probes) = &mut self.probes {
            for cookie in closed {
                probes.forget(cookie);
            }
        }
        let now = Instant::now();
        let interval_s = now.duration_since(std::mem::replace(&mut self.round_began, now)).as_secs_f64();
        Ok(Round {
            time: Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
            interval_s,
            elapsed_s: now.duration_since(self.began).as_secs_f64(),
            namespaces,
            missing: self.missing.clone(),
            lost,
        })
    }

    fn open_namespaces(&mut self) -> Result<()> {
        let known: Vec<u64> = self.namespaces.iter().map(|namespace| namespace.netns.inode).collect();
        for named in namespaces::open(&self.wanted, &known)? {
            // Of all that there are, those that we may not enter are left out; a wanted one must open.
            let is_asked_for = named.name.is_none() || !self.wanted.contains(&Wanted::All);
            match Namespace::open(named, self.probes.as_ref()) {
                Ok(namespace) => self.namespaces.push(namespace),
                Err(error) if is_asked_for => return Err(error),
                Err(error) => {
                    log::debug!("{error:#}");
                    let missing = "network namespaces that we may not enter: that needs root".to_owned();
                    if !self.missing.contains(&missing) {
                        self.missing.push(missing);
                    }
                }
            }
        }
        Ok(())
    }

    /// What we hold open would keep a namespace alive whose last process has ended.
    fn let_go(&mut self) {
        let existing = namespaces::existing();
        self.namespaces.retain(|namespace| namespace.name.is_none() || existing.contains(&namespace.netns.inode));
    }

    /// Looks owners up once per socket: it means walking through every process.
    fn name_owners(&mut self) {
        let unnamed = self.namespaces.iter().flat_map(|namespace| namespace.history.unnamed()).collect::<BTreeSet<_>>();
        if unnamed.is_empty() {
            return;
        }
        let owners = owners_of(&unnamed);
        for namespace in &mut self.namespaces {
            namespace.history.name(&owners);
        }
    }
}

/// The probes, or why there are none.
fn probes(missing: &mut Vec<String>) -> Option<WatchProbes> {
    match WatchProbes::attach() {
        Ok(probes) => Some(probes),
        Err(error) => {
            log::debug!("{error:#}");
            let needs_root = !rustix::process::geteuid().is_root();
            let why = if needs_root { "that needs root".to_owned() } else { format!("{error:#}") };
            without_probes(missing, &why)
        }
    }
}

fn without_probes(missing: &mut Vec<String>, why: &str) -> Option<WatchProbes> {
    missing.push(format!("accept-queue wait, backlog as asked for, drops at the final ACK apart: {why}"));
    None
}

impl Namespace {
    fn open(named: Named, probes: Option<&WatchProbes>) -> Result<Self> {
        let Named { netns, name } = named;
        let (query, mut counters, mut settings) = netns.within(|| {
            let counters = CounterFiles::open(Path::new("/proc/thread-self/net"));
            let counters = counters.context("failed to open the TCP counters in `/proc/thread-self/net`")?;
            Ok((ListenerQuery::open()?, counters, SettingFiles::open()))
        })?;
        let listeners = query.listeners()?;
        let look = Look { seen: seen(probes, listeners.iter())?, listeners, counters: None };
        let first = ending(netns.inode, &mut counters, &mut settings, probes)?;
        let history = History::begin(netns.inode, look, first);
        Ok(Self { netns, name, query, counters, settings, history })
    }

    fn look(&mut self, probes: Option<&WatchProbes>) -> Result<()> {
        let listeners = self.query.listeners()?;
        let asked = listeners.iter().filter(|listener| self.history.asks_for_events(listener));
        let seen = seen(probes, asked)?;
        let counters = if self.history.asks_for_counters(&listeners) {
            Some(listen_counters(&self.counters.read().context("failed to read the TCP counters")?))
        } else {
            None
        };
        self.history.look(Look { listeners, seen, counters });
        Ok(())
    }

    /// The look at the end of an interval, with everything that is read only then.
    fn last_look(&mut self, probes: Option<&WatchProbes>, known: &mut BTreeSet<u64>) -> Result<Ending> {
        let listeners = self.query.listeners()?;
        known.extend(listeners.iter().map(|listener| listener.cookie));
        let seen = seen(probes, listeners.iter())?;
        let ending = ending(self.netns.inode, &mut self.counters, &mut self.settings, probes)?;
        let counters = Some(listen_counters(&ending.counters));
        self.history.look(Look { listeners, seen, counters });
        Ok(ending)
    }

    fn round(&mut self, ending: Ending) -> NetnsRound {
        self.history.round(ending, self.name.clone())
    }
}

fn seen<'a>(
    probes: Option<&WatchProbes>,
    listeners: impl Iterator<Item = &'a Listener>,
) -> Result<BTreeMap<u64, ListenerSeen>> {
    let Some(probes) = probes else { return Ok(BTreeMap::new()) };
    listeners.map(|listener| Ok((listener.cookie, probes.listener(listener.cookie)?))).collect()
}

fn ending(
    netns: u64,
    counters: &mut CounterFiles,
    settings: &mut SettingFiles,
    probes: Option<&WatchProbes>,
) -> Result<Ending> {
    Ok(Ending {
        counters: counters.read().context("failed to read the TCP counters")?,
        retransmits: probes.map(|probes| probes.retransmits(netns)).transpose()?.flatten(),
        settings: settings.read(),
        at: Instant::now(),
    })
}
