"""The four experiments: what is run, and what follows from the figures. Each gives an Outcome, and prints nothing.

The earlier figures are of a 4-core virtual machine (backlog 128, 100 connections x 10 rounds, 3 repeats); the predictions are
of what is known about the physics since. A shape holds or not; absolute figures belong to their machine."""

from dataclasses import dataclass, field

from figures import Sample, change, count, counter, duration, failures, quantile_ns, rate, times

SERVERS = ("echo-epoll-lt", "echo-epoll-et")
CLASSIC = ("--classic", "--connections", 100, "--rounds", 10, "--timeout", "30s")


@dataclass
class Row:
    what: str
    earlier: str
    here: str


@dataclass
class Outcome:
    title: str
    prediction: list
    rows: list = field(default_factory=list)
    verdicts: list = field(default_factory=list)

    def row(self, what, earlier, here):
        self.rows.append(Row(what, earlier, here))

    def verdict(self, held, text):
        self.verdicts.append((bool(held), text))


def timed(size, mode):
    return (*mode, "--connections", 100, "--warmup", size.warmup, "--duration", size.duration)


def loads(size):
    return {
        "classic short": (*CLASSIC, "--mode", "short"),
        "classic long": (*CLASSIC, "--mode", "long"),
        "short": timed(size, ("--mode", "short")),
        "10 per connection": timed(size, ("--requests-per-connection", 10)),
        "long": timed(size, ("--mode", "long")),
    }


def measure_modes(lab, size, say):
    """Every load on every server, interleaved: what 3.1 and 3.2 are about."""
    runs = {(server, load): [] for server in SERVERS for load in loads(size)}
    for repeat in range(size.repeats):
        for server in SERVERS if repeat % 2 == 0 else SERVERS[::-1]:
            with lab.server(server) as port:
                for load, arguments in loads(size).items():
                    say(f"repeat {repeat + 1} of {size.repeats}: {server}, {load}")
                    runs[server, load].append(lab.bench(port, arguments, 60))
    return runs


def short_against_long(runs):
    outcome = Outcome(
        "3.1  long against short connections, 100 connections",
        [
            "earlier: 2-5x; since: about 2.0-2.4x at 10 requests per connection, 4.7x without end;",
            "the classic run lasts 14-35 ms, so its rate ranges widely from one run to the next",
        ],
    )
    earlier = {
        "echo-epoll-et": ("24,915", "53,528", "2.15x"),
        "echo-epoll-lt": ("26,433", "39,010", "1.48x"),
    }
    for server in SERVERS:
        rates = {load: Sample(map(rate, runs[server, load])) for _, load in runs if (server, load) in runs}
        was = earlier[server]

        def ratio(over, under, rates=rates):
            return Sample(a / b for a, b in zip(rates[over].values, rates[under].values))

        name = server.removeprefix("echo-epoll-").upper()
        outcome.row(f"{name} classic short, req/s", was[0], rates["classic short"].text(count))
        outcome.row(f"{name} classic long, req/s", was[1], rates["classic long"].text(count))
        outcome.row(f"{name} classic long / short", was[2], ratio("classic long", "classic short").text(times))
        lasted = Sample(run["elapsed_ns"] for run in runs[server, "classic long"])
        outcome.row(f"{name} classic long lasted", "-", lasted.text(duration))
        outcome.row(f"{name} short, req/s", "-", rates["short"].text(count))
        outcome.row(f"{name} 10 per connection, req/s", "-", rates["10 per connection"].text(count))
        outcome.row(f"{name} long, req/s", "-", rates["long"].text(count))
        ten, endless = ratio("10 per connection", "short"), ratio("long", "short")
        outcome.row(f"{name} 10 per connection / short", was[2], ten.text(times))
        outcome.row(f"{name} long / short", "-", endless.text(times))
        outcome.verdict(1.5 <= ten.median <= 3.5, f"{name}: 10 per connection is 1.5-3.5x short: {times(ten.median)}")
        outcome.verdict(endless.median >= 3, f"{name}: long is at least 3x short: {times(endless.median)}")
        classic, good = rates["classic long"].spread, rates["long"].spread
        text = f"most over least of the repeats: classic {times(classic)}, timed {times(good)}"
        outcome.verdict(classic > good, f"{name}: the classic client's rate ranges more widely; {text}")
    return outcome


def level_against_edge(runs):
    outcome = Outcome(
        "3.2  level-triggered against edge-triggered, long connections",
        [
            "earlier: 5-10 %; since: no difference with active connections only, neither in rate nor in p99:",
            "what was seen was the range of runs of 20 ms (see 3.1)",
        ],
    )
    lt, et = SERVERS
    was = {"classic long": ("+37.2 %", "7.48 ms", "1.89 ms"), "long": ("-", "-", "-")}
    for load, (gain, lt_p99, et_p99) in was.items():
        pairs = zip(runs[et, load], runs[lt, load])
        ratio = Sample(rate(edge) / rate(level) for edge, level in pairs)
        outcome.row(f"{load}: ET against LT, req/s", gain, ratio.text(change))
        for server, earlier in ((lt, lt_p99), (et, et_p99)):
            p99 = Sample(quantile_ns(run["request"], 0.99) for run in runs[server, load])
            outcome.row(f"{load}: p99 {server.removeprefix('echo-epoll-').upper()}", earlier, p99.text(duration))
    within = min(ratio.values) <= 1 <= max(ratio.values) or abs(ratio.median - 1) <= 0.1
    outcome.verdict(within, f"no difference beyond the range of repeats or 10 %: {ratio.text(change)}")
    return outcome


def queue_depths(lab, size, say):
    outcome = Outcome(
        "3.3  more connections, at a backlog of 128 and of 4096 (echo-epoll-lt)",
        [
            "earlier: a knee at 500 connections, taken for the limit of a single thread; since: SYNs that overflow the accept",
            "queue are sent again after whole seconds. At 4096 there is no knee; at 128 the kernel's counters name the cause",
        ],
    )
    earlier = {("short", 5000): "387, 248 failed", ("long", 5000): "3,222, none failed"}
    medians, overflows = {}, {}
    for backlog in (128, 4096):
        for mode in ("short", "long"):
            for connections in size.connections:
                kinds = {
                    "classic": ("--classic", "--connections", connections, "--rounds", 10, "--mode", mode, "--timeout", "30s"),
                    "timed": (
                        *("--connections", connections, "--mode", mode, "--timeout", "3s"),
                        *("--warmup", size.warmup, "--duration", size.duration),
                    ),
                }
                found = {}
                for kind, arguments in kinds.items():
                    runs = []
                    for repeat in range(size.sweep_repeats):
                        say(f"backlog {backlog}, {mode}, {connections} connections, {kind}, repeat {repeat + 1}")
                        # A server for each run: what waits in its queue must not be the next one's.
                        with lab.server(SERVERS[0], backlog) as port:
                            runs.append(lab.bench(port, arguments, size.limit_s))
                    found[kind] = runs
                    medians[backlog, mode, connections, kind] = Sample(map(rate, runs)).median
                    overflows[backlog, mode, connections, kind] = max(counter(run, "ListenOverflows") for run in runs)
                was = earlier.get((mode, connections), "-") if backlog == 128 else "-"
                here = "; ".join(f"{kind} {described(runs)}" for kind, runs in found.items())
                outcome.row(f"{backlog}, {mode}, {connections:,}", was, here)
    judge_depths(outcome, size, medians, overflows)
    return outcome


def described(runs):
    """Rate, how long it took where that tells something, failures, overflows."""
    text = Sample(map(rate, runs)).text(count)
    longest = max(run["elapsed_ns"] for run in runs)
    if runs[0]["settings"]["client"] == "classic":
        text += f" in {duration(longest)}" + (" (cut off)" if any(run["partial"] for run in runs) else "")
    failed, overflowed = sum(map(failures, runs)), max(counter(run, "ListenOverflows") for run in runs)
    text += f", {failed:,} failed" if failed else ""
    return text + (f", {overflowed:,} overflows" if overflowed else "")


def judge_depths(outcome, size, medians, overflows):
    low, knee = size.connections[0], 500

    def share(backlog, kind):
        return medians[backlog, "short", knee, kind] / medians[backlog, "short", low, kind]

    dropped = overflows[128, "short", knee, "classic"]
    outcome.verdict(
        share(128, "classic") <= 0.5 and dropped > 0,
        f"backlog 128, classic short: a knee at 500 ({change(share(128, 'classic'))} against {low}; earlier -88 %), with"
        f" {dropped:,} overflows of the accept queue",
    )
    kept = overflows[4096, "short", knee, "classic"]
    outcome.verdict(
        share(4096, "classic") >= 0.6 and kept == 0,
        f"backlog 4096, classic short: no knee at 500 ({change(share(4096, 'classic'))} against {low}), {kept:,} overflows",
    )
    gain = medians[4096, "short", knee, "classic"] / medians[128, "short", knee, "classic"]
    outcome.verdict(gain >= 2, f"500 short, classic: backlog 4096 is {times(gain)} backlog 128 (since: 4,500 -> 29,000, 6.4x)")


def connect_and_close(lab, size, say):
    outcome = Outcome(
        "3.4  connect() and close() of the client, traced, short against long (100 connections x 10)",
        ["earlier: calls -90 %, time -86.7 % (3.23 s -> 0.43 s under strace -c); since: calls by 1 - 1/10 exactly, time about so"],
    )
    for kind, client in (("classic", ("--classic",)), ("epoll", ())):
        calls, total = {"short": [], "long": []}, {"short": [], "long": []}
        for repeat in range(size.trace_repeats):
            for mode in calls:
                say(f"traced, {kind} client, {mode}, repeat {repeat + 1} of {size.trace_repeats}")
                arguments = (*client, "--port", 9988, "--connections", 100, "--rounds", 10, "--mode", mode)
                found = client_calls(lab.trace("recordings", SERVERS[0], arguments, 60))
                calls[mode].append(found[0])
                total[mode].append(found[1])
        count_ratio = Sample(a / b for a, b in zip(calls["long"], calls["short"]))
        time_ratio = Sample(a / b for a, b in zip(total["long"], total["short"]))
        arrow = " -> ".join(Sample(calls[mode]).text(count) for mode in calls)
        outcome.row(f"{kind}: calls", "-90 %", f"{count_ratio.text(change)}: {arrow}")
        arrow = " -> ".join(duration(Sample(total[mode]).median) for mode in total)
        outcome.row(f"{kind}: time in them", "-86.7 %", f"{time_ratio.text(change)}: {arrow}")
        outcome.verdict(
            0.09 <= count_ratio.median <= 0.13, f"{kind}: calls fall by about 90 %: {change(count_ratio.median)}"
        )
        outcome.verdict(time_ratio.median <= 0.3, f"{kind}: their time falls by 70 % or more: {change(time_ratio.median)}")
    return outcome


def client_calls(recording):
    """Calls and nanoseconds of connect and close together, in the load generator."""
    client = next(group for group in recording["groups"] if group["name"] == "client")
    chosen = [call for call in client["syscalls"] if call["name"] in ("connect", "close")]
    return sum(call["calls"] for call in chosen), sum(nanoseconds(call) for call in chosen)


def nanoseconds(call):
    latency = call.get("latency")
    return latency["sum"] if latency else call.get("total_ns") or 0
