"""Calls made against calls counted, of a program that makes them on every CPU as fast as it can."""

import json
import os
import re

from tracers import ANALYZER, FIXTURE, OURS, printed

MADE = 1_000_000


def counts(names, scratch, scale):
    """Rows of (tracer, made, counted, calls per second while traced)."""
    threads = os.cpu_count()
    each = int(MADE * scale / threads)
    made = each * threads
    loop = [FIXTURE, "timed", "1", FIXTURE, "late-threads", str(threads), "0", str(each)]
    rows = []
    for name, count in (("no tracer", untraced), (OURS, ours), ("perf trace -s", perf)):
        if name in names:
            counted, text = count(loop, scratch)
            took_ns = next(float(line.split()[0]) for line in text.splitlines() if re.fullmatch(r"[\d.]+ [\d.]+", line))
            rows.append({"tracer": name, "made": made, "counted": counted, "per_second": made / took_ns * 1e9})
    return rows


def untraced(loop, scratch):
    return None, printed(loop, scratch)


def ours(loop, scratch):
    text = printed([ANALYZER, "trace", "-q", "-o", os.path.join(scratch, "exact"), "--"] + loop, scratch)
    path = next(line for line in text.splitlines() if line.endswith("recording.json"))
    with open(os.path.join(scratch, path.removeprefix("analyzer: recording written to ")), encoding="utf-8") as file:
        recording = json.load(file)
    rows = (row for group in recording["groups"] for row in group["syscalls"])
    return sum(row["calls"] for row in rows if row["name"] == "getsid"), text


def perf(loop, scratch):
    table = os.path.join(scratch, "exact.txt")
    text = printed(["perf", "trace", "-s", "-o", table, "--"] + loop, scratch)
    with open(table, encoding="utf-8") as file:
        return sum(int(found) for found in re.findall(r"^\s*getsid\s+(\d+)", file.read(), re.MULTILINE)), text
