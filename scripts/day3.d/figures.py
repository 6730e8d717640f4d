"""Figures of runs: rates, quantiles, medians with their range, and how they are written. Knows nothing of experiments."""

import statistics


def rate(result):
    """Requests per second that were answered."""
    return result["ok"] * 1e9 / result["elapsed_ns"] if result["elapsed_ns"] else 0.0


def failures(result):
    return sum(result["failed"].values())


def counter(result, name):
    return result["kernel_counters"].get("TcpExt." + name, 0)


def quantile_ns(histogram, q):
    """The middle of the bucket in which the quantile lies (the layout of HdrHistogram, as `bench --json` stores it)."""
    rank, seen = max(1, round(q * histogram["count"])), 0
    for index, count in histogram["buckets"]:
        seen += count
        if seen >= rank:
            bits = histogram["sub_bits"]
            if index < 1 << bits:
                return index
            shift = (index >> bits) - 1
            low = ((1 << bits) | (index & ((1 << bits) - 1))) << shift
            return low + (1 << shift) // 2
    return 0


class Sample:
    """Values of the same thing in several repeats."""

    def __init__(self, values):
        self.values = list(values)

    @property
    def median(self):
        return statistics.median(self.values)

    @property
    def spread(self):
        """Most over least."""
        return max(self.values) / max(min(self.values), 1e-9)

    def text(self, form):
        middle = form(self.median)
        if len(self.values) == 1:
            return middle
        return f"{middle} ({form(min(self.values))}..{form(max(self.values))})"


def count(value):
    return f"{value:,.0f}"


def times(value):
    return f"{value:.2f}x"


def change(value):
    return f"{(value - 1) * 100:+.1f} %"


def duration(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.0f} ns"
