//! Runs a command and writes every duration of one of its system calls, in ns, one a line: `raw NR FILE COMMAND...`.
//!
//! A second tracer beside the analyzer, with nothing in common but the hooks: what percentiles are compared with.

use std::{
    env,
    fs::File,
    io::{BufWriter, Write as _},
    os::unix::process::CommandExt as _,
    process::Command,
};

use anyhow::{Context as _, Result, bail, ensure};
use aya::{
    Btf, EbpfLoader,
    maps::{Array, PerCpuArray, RingBuf},
    programs::BtfTracePoint,
};

fn main() -> Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [nr, file, program, args @ ..] = words.as_slice() else { bail!("usage: raw NR FILE COMMAND...") };
    let nr: u32 = nr.parse().context("NR is not a number")?;
    let btf = Btf::from_sys_fs()?;
    let mut ebpf = EbpfLoader::new().override_global("NR", &nr, true).load(probes::prebuilt::RAW)?;
    for hook in ["sys_enter", "sys_exit"] {
        let probe: &mut BtfTracePoint = ebpf.program_mut(hook).context("no such program")?.try_into()?;
        probe.load(hook, &btf)?;
        probe.attach()?;
    }
    let mut process: Array<_, u32> = Array::try_from(ebpf.take_map("PROCESS").context("no map")?)?;
    let (gate, open) = std::io::pipe()?;
    let mut command = Command::new("sh");
    // The shell waits for its line, then becomes the program: the same process.
    command.args(["-c", "read go; exec \"$@\"", "sh", program]).args(args).stdin(gate).arg0("sh");
    let mut child = command.spawn()?;
    process.set(0, child.id(), 0)?;
    let mut open = open;
    open.write_all(b"go\n")?;
    let status = child.wait()?;
    ensure!(status.success(), "`{program}` failed: {status}");
    let mut durations = RingBuf::try_from(ebpf.take_map("DURATIONS").context("no map")?)?;
    let mut out = BufWriter::new(File::create(file)?);
    while let Some(item) = durations.next() {
        writeln!(out, "{}", u64::from_ne_bytes(item[..8].try_into()?))?;
    }
    let lost: PerCpuArray<_, u64> = PerCpuArray::try_from(ebpf.take_map("LOST").context("no map")?)?;
    ensure!(lost.get(&0, 0)?.iter().sum::<u64>() == 0, "the ring was full");
    Ok(())
}
