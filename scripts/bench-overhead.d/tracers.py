"""Tracers: how each is put around a command that it starts, or beside a process that runs. Measures nothing."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RELEASE = os.path.join(ROOT, "target", "release")
ANALYZER = os.path.join(RELEASE, "analyzer")
FIXTURE = os.path.join(RELEASE, "examples", "fixture")
FLOOR = os.path.join(RELEASE, "examples", "floor")
SYSCOUNT = shutil.which("bpf-syscount") or shutil.which("syscount") or shutil.which("syscount-bpfcc")

NONE, EMPTY, TWO_CLOCK_READS, OURS = "no tracer", "empty probe pair", "two clock reads (floor)", "analyzer"

# A descriptor by which the kernel holds a probe for a process.
PROBE = re.compile(r"bpf.?link|perf_event|raw.tracepoint")
HISTOGRAMS = """
tracepoint:raw_syscalls:sys_enter /WHO/ { @entered[tid] = nsecs; }
tracepoint:raw_syscalls:sys_exit /@entered[tid]/ { @ns[args->id] = hist(nsecs - @entered[tid]); delete(@entered[tid]); }
"""


class Tracer:
    """`start`: the words before a command that the tracer starts itself. `join`: its words to trace a process, in which PID
    stands for the process, or nothing where it cannot."""

    def __init__(self, name, start=None, join=None, slow=False):
        self.name = name
        self.start = start
        self.join = join
        # Takes so long for a call that a workload must be smaller.
        self.slow = slow

    def run(self, load, scratch):
        """Runs a load from its beginning under this tracer; returns what it printed."""
        if self.start is not None:
            return printed(filled(self.start, load, scratch) + load.command(self.slow), scratch)
        held = subprocess.Popen(
            ["sh", "-c", 'read line; exec "$@"', "sh"] + load.command(self.slow),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=scratch,
        )  # fmt: skip
        try:
            # Of a process alone it can be told to follow no other; children it finds only with everyone else.
            with self.beside(held.pid if load.alone else None, scratch):
                return held.communicate("go\n")[0]
        finally:
            held.kill()

    @contextlib.contextmanager
    def beside(self, pid, scratch):
        """Traces a process that runs (all of the machine without one) for as long as the context lasts."""
        words = [word.replace("PID", str(pid)).replace("SCRATCH", scratch) for word in self.join]
        if pid is None:
            words = words[: words.index("-p")]
        said = open(os.path.join(scratch, "tracer.txt"), "w", encoding="utf-8")
        tracer = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=said, stderr=subprocess.STDOUT, cwd=scratch)
        try:
            await_probes(tracer, pid)
            yield
        finally:
            tracer.send_signal(signal.SIGINT)
            tracer.stdin.close()
            tracer.wait()
            said.close()


def filled(words, load, scratch):
    who = "pid == cpid" if load.alone else f'comm == "{load.name_in_kernel}"'
    return [word.replace("SCRATCH", scratch).replace("WHO", who) for word in words]


def printed(command, scratch, may_fail=False):
    """stdout and stderr of a command."""
    done = subprocess.run(command, cwd=scratch, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0 and not may_fail:
        sys.exit(f"bench-overhead: `{' '.join(command)}` failed with status {done.returncode}:\n{done.stdout}")
    return done.stdout


def await_probes(tracer, pid):
    """Returns when the tracer's probes have been in place, and no more of them come, for a while."""
    deadline, seen, since = time.monotonic() + 20, 0, 0
    while time.monotonic() < deadline and tracer.poll() is None:
        if pid and status(pid, "TracerPid") != "0":
            return
        probes = sum(1 for target in descriptors(tracer.pid) if PROBE.search(target))
        if probes != seen:
            seen, since = probes, time.monotonic()
        if seen and time.monotonic() - since > 0.2:
            return
        time.sleep(0.02)
    with open(f"/proc/{tracer.pid}/cmdline", encoding="utf-8") as words:
        sys.exit(f"bench-overhead: `{words.read().replace(chr(0), ' ')}` attached nothing")


def status(pid, key):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next(line.split()[1] for line in file if line.startswith(key + ":"))


def descriptors(pid):
    with contextlib.suppress(FileNotFoundError):
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(FileNotFoundError):
                yield os.readlink(f"/proc/{pid}/fd/{fd}")


def analyzer(name, *options):
    words = [ANALYZER, "trace", "-q", "-o", "SCRATCH/results", *options]
    return Tracer(name, start=words + ["--"], join=words + ["-p", "PID"])


def every():
    """All tracers by name in the order of the table, and the programs that are missing for others."""
    found = [
        Tracer(NONE, start=[]),
        Tracer(EMPTY, start=[FLOOR, "empty"], join=[FLOOR, "empty", "cat"]),
        Tracer(TWO_CLOCK_READS, start=[FLOOR, "clock"], join=[FLOOR, "clock", "cat"]),
        analyzer("analyzer --count-only", "--count-only"),
        analyzer("analyzer --no-on-cpu", "--no-on-cpu"),
        analyzer(OURS),
        analyzer("analyzer, all on", "--by", "thread", "--interval", "100ms"),
    ]
    missing = []
    if shutil.which("bpftrace"):
        joining = ["bpftrace", "-e", HISTOGRAMS.replace("WHO", "pid == PID")]
        starting = ["bpftrace", "-o", "SCRATCH/bpftrace.txt", "-e", HISTOGRAMS, "-c"]
        found.append(Bpftrace("bpftrace histograms", start=starting, join=joining))
    else:
        missing.append("bpftrace")
    if SYSCOUNT:
        found.append(Tracer("syscount -L", join=[SYSCOUNT, "-L", "-p", "PID"]))
    else:
        missing.append("syscount (libbpf-tools)")
    if shutil.which("perf"):
        words = ["perf", "trace", "-s", "-o", "SCRATCH/perf.txt"]
        found.append(Tracer("perf trace -s", start=words + ["--"], join=words + ["-p", "PID"], slow=True))
    else:
        missing.append("perf")
    if shutil.which("strace"):
        words = ["strace", "-c", "-f", "-o", "SCRATCH/strace.txt"]
        found.append(Tracer("strace -c -f", start=words, join=words + ["-p", "PID"], slow=True))
        found.append(Tracer("strace -c -f --seccomp-bpf", start=words + ["--seccomp-bpf"], slow=True))
    else:
        missing.append("strace")
    return found, missing


class Bpftrace(Tracer):
    """Takes the command to start as one word, which it splits at spaces."""

    def run(self, load, scratch):
        return printed(filled(self.start, load, scratch) + [" ".join(load.command(self.slow))], scratch)
