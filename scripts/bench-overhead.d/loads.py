"""What is run under the tracers, all but the servers: programs that time themselves, in ns per unit of their work."""

import os
import subprocess
import sys

from tracers import FIXTURE, OURS, printed

TREE_FOLDERS, TREE_FILES = 40, 50


class Load:
    """A program, so many units of work of it (fewer under a slow tracer), and what the kernel calls it."""

    better = "lower"

    def __init__(self, name, unit, words, fast, slow, name_in_kernel="fixture", alone=False, divisor=None):
        self.name = name
        self.unit = unit
        self.words = words
        self.fast = fast
        self.slow = slow
        self.name_in_kernel = name_in_kernel
        # One process, without children.
        self.alone = alone
        # By this a printed figure is divided, where it is not that of all units.
        self.divisor = divisor

    def units(self, slow):
        return self.slow if slow else self.fast

    def command(self, slow):
        return [word.replace("UNITS", str(self.units(slow))) for word in self.words]

    def variants(self, tracers):
        """Name and function of each thing to compare: the function takes a scratch folder, returns (best, median)."""
        by_name = {tracer.name: tracer for tracer in tracers}
        every = {tracer.name: lambda scratch, tracer=tracer: self.under(tracer, scratch) for tracer in tracers}
        for name in BYSTANDERS if self.alone else ():
            if name in by_name:
                every[f"{name}: bystander"] = lambda scratch, tracer=by_name[name]: self.bystander(tracer, scratch)
        return every

    def under(self, tracer, scratch):
        return self.figures(tracer.run(self, scratch), self.units(tracer.slow))

    def bystander(self, tracer, scratch):
        """Runs it untraced while another process is traced."""
        other = subprocess.Popen(["sleep", "600"])
        try:
            with tracer.beside(other.pid, scratch):
                return self.figures(printed(self.command(False), scratch), self.units(False))
        finally:
            other.kill()
            other.wait()

    def figures(self, text, units):
        """Least and median ns per unit, from the line of two numbers."""
        for line in text.splitlines():
            words = line.split()
            if len(words) == 2 and all(word.replace(".", "", 1).isdigit() for word in words):
                divisor = self.divisor or units
                return float(words[0]) / divisor, float(words[1]) / divisor
        sys.exit(f"bench-overhead: {self.name}: no figures in what was printed:\n{text}")


# Tracers whose cost to other processes is measured; of an empty pair it is the same as for its own.
BYSTANDERS = (OURS, "bpftrace histograms", "syscount -L", "perf trace -s")


def every(scratch, scale):
    """Loads by name; `scale` makes them shorter. They use files below `scratch`."""
    tree = os.path.join(scratch, "tree")
    for folder in range(TREE_FOLDERS):
        os.makedirs(os.path.join(tree, str(folder)))
        for file in range(TREE_FILES):
            open(os.path.join(tree, str(folder), str(file)), "wb").close()
    files = TREE_FOLDERS * (TREE_FILES + 1) + 1

    def scaled(units):
        return max(1, int(units * scale))

    timed = [FIXTURE, "timed", "1"]
    find = [FIXTURE, "timed", "UNITS", "find", tree, "-size", "+1"]
    return {
        "null": Load(
            "null call", "ns per getpid()", [FIXTURE, "null-calls", "UNITS"], scaled(1_000_000), scaled(20_000),
            alone=True, divisor=1,
        ),
        "dd": Load(
            "dd bs=4k", "ns per block", timed + ["dd", "if=/dev/zero", "of=/dev/null", "bs=4k", "count=UNITS"],
            scaled(200_000), scaled(10_000), name_in_kernel="dd",
        ),
        "find": Load("find -size", "ns per file", find, scaled(20), 1, name_in_kernel="find", divisor=files),
        "fork": Load(
            "fork + exec", "ns per child", timed + [FIXTURE, "forks", "UNITS", "10"], scaled(200), scaled(40),
        ),
    }  # fmt: skip
