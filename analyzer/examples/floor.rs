//! Runs a command while a pair of probes does nothing, or reads the clock: `floor empty|clock COMMAND...`.
//!
//! The floor for what tracing system calls can cost; `scripts/bench-overhead` compares the analyzer with it.

use std::{env, process::Command};

use anyhow::{Context as _, Result, bail};
use aya::{Btf, EbpfLoader, programs::BtfTracePoint};

fn main() -> Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [kind, program, args @ ..] = words.as_slice() else { bail!("usage: floor empty|clock COMMAND...") };
    let clock = u32::from(kind == "clock");
    let btf = Btf::from_sys_fs()?;
    let mut ebpf = EbpfLoader::new().override_global("CLOCK", &clock, true).load(probes::prebuilt::FLOOR)?;
    for hook in ["sys_enter", "sys_exit"] {
        let probe: &mut BtfTracePoint = ebpf.program_mut(hook).context("no such program")?.try_into()?;
        probe.load(hook, &btf)?;
        probe.attach()?;
    }
    let status = Command::new(program).args(args).status().with_context(|| format!("failed to run `{program}`"))?;
    if !status.success() {
        bail!("`{program}` failed: {status}");
    }
    Ok(())
}
