"""What is checked under each kernel: a command, and what its output must say."""

import collections
import json

Check = collections.namedtuple("Check", "name command wrong")

TRACE = "analyzer trace --format json"


def recorded(output):
    """The recording that the command printed; what the programs themselves print goes to stderr."""
    return json.loads(output.stdout)


def rows(group):
    return {row["name"]: row for row in group["syscalls"]}


def named(recording, group):
    return next(found for found in recording["groups"] if found["name"] == group)


def differences(expected, found):
    """Each difference in words; nothing when there is none."""
    return "; ".join(
        f"{name} is {found.get(name)}, not {value}" for name, value in expected.items() if found.get(name) != value
    )


def calls(side="client", **expected):
    """That side made exactly these calls, nothing was lost, and no probe was refused."""

    def wrong(output):
        recording = recorded(output)
        group = named(recording, side)
        found = {name: row["calls"] for name, row in rows(group).items()}
        return differences(expected, found) or lost(group) or refused(recording)

    return wrong


def lost(group):
    return "; ".join(f"lost: {count} {kind}" for kind, count in group["loss"].items() if count)


def refused(recording):
    """A probe may be missing where the kernel has no such hook or does not tell enough, but none may be refused by the verifier."""
    off = [(probe["hook"], probe.get("off_because")) for probe in recording["probes"]]
    return "; ".join(f"{hook}: {why}" for hook, why in off if why and not why.startswith("this kernel "))


def denied(output):
    """What seccomp refuses never reaches the call, and is counted all the same."""
    return differences({"denied": 400, "calls": 0}, rows(named(recorded(output), "client"))["getsid"])


def blocked(output):
    """A process that was inside a call at the start, and still is."""
    calls_inside = [(call["name"], call["begun_before"]) for call in named(recorded(output), "server")["in_flight"]]
    return "" if calls_inside == [("recvfrom", True)] else f"in flight: {calls_inside}"


def slept(output):
    """Naps of 10 ms each are off the CPU for nearly all of their time."""
    nap = rows(named(recorded(output), "client"))["clock_nanosleep"]
    on_cpu_ns = nap["on_cpu"]["sum"]
    if nap["calls"] != 20 or on_cpu_ns * 2 > nap["total_ns"]:
        return f"{nap['calls']} naps, on the CPU for {on_cpu_ns} of {nap['total_ns']} ns"
    return ""


def served(output):
    """200 requests over as many connections, at both ends."""
    recording = recorded(output)
    server, client = (
        {name: row["calls"] - row["errors"] for name, row in rows(named(recording, side)).items()}
        for side in ("server", "client")
    )
    wrong = differences({"accept4": 200, "close": 200, "sendto": 200}, server)
    wrong = wrong or differences({"socket": 200}, client)
    tcp = recording["tcp"]
    wrong = wrong or differences({"Tcp.PassiveOpens": 200}, tcp["counters"])
    return wrong or followed(tcp) or lost(named(recording, "server")) or refused(recording)


def followed(tcp):
    """Both ends of all 200 connections, from birth to end, by address and owner."""
    wrong = differences({"from_birth": 400, "open": 0, "let_go": 0, "lost": 0}, tcp["tracked"])
    connects = [(row["group"], row["destination"], row["outcome"], row["latency"]["count"]) for row in tcp["connects"]]
    if connects != [("client", "127.0.0.1:9988", "established", 200)]:
        wrong = wrong or f"connects: {connects}"
    listeners = [(row["address"], row["established"], row["accepted"]) for row in tcp["listeners"]]
    return wrong or ("" if ("0.0.0.0:9988", 200, 200) in listeners else f"listeners: {listeners}")


def ring(output):
    """200 replies through io_uring, each submission and each completion seen."""
    group = named(recorded(output), "server")
    sends = [row for row in group.get("io_uring", []) if "SEND" in row["opcode"].upper()]
    completed, submitted = (sum(row[key] for row in sends) for key in ("completed", "submitted"))
    wrong = "" if completed == submitted == 200 else f"sends: {submitted} submitted, {completed} completed"
    return wrong or lost(group) or refused(recorded(output))


def printed(*texts):
    def wrong(output):
        return "; ".join(f"no `{text}` in the output" for text in texts if text not in output.stdout)

    return wrong


def when_traced(command, which):
    """A shell from before the trace that makes its calls during it: the workload starts once all is attached."""
    return (
        f"mkfifo go done; (read line <go; {command}; echo >done) & "
        f"{TRACE} {which} -- sh -c 'echo >go; read line <done'; status=$?; rm go done; exit $status"
    )


CHECKS = [
    Check("calls", f"{TRACE} -- fixture calls 1000", calls(getsid=1000)),
    Check("calls, counted only", f"{TRACE} --count-only -- fixture calls 1000", calls(getsid=1000)),
    Check("threads", f"{TRACE} --by thread -- fixture hopping-threads 8 200", calls(getsid=1600)),
    Check("forks and execs", f"{TRACE} --by process -- fixture forks 5 10", calls(getsid=60, execve=6)),
    Check("exec from a thread", f"{TRACE} -- fixture exec-from-thread 50", calls(getsid=100)),
    Check("odd numbers", f"{TRACE} -- fixture odd 5", calls(syscall_0x270f=5)),
    Check("on-CPU time", f"{TRACE} -- fixture naps 20", slept),
    Check("seccomp", f"{TRACE} -- fixture denied 400", denied),
    Check("join a process", when_traced("fixture calls 100", "-p $!"), calls("server", getsid=100)),
    Check("by name", when_traced("fixture calls 30", "--comm fixture"), calls("server", getsid=30)),
    Check("blocked at the start", f"fixture block & sleep 0.3; {TRACE} -p $! -d 500ms; status=$?; kill $!; exit $status", blocked),
    Check("selection", f"{TRACE} -e getsid -- fixture calls 70", calls(getsid=70, execve=None)),
    Check(
        "server and load",
        f"{TRACE} --target echo-epoll-lt -- bench --mode short --connections 10 --rounds 20",
        served,
    ),
    Check(
        "io_uring",
        f"{TRACE} --target echo-uring -- bench --mode long --connections 10 --rounds 20",
        ring,
    ),
    Check("table", "analyzer trace -- fixture calls 40", printed("getsid", "complete: no event was lost")),
    Check(
        "watch",
        "echo-epoll-lt --port 7001 >/dev/null & sleep 0.3; analyzer watch --interval 300ms --count 2; status=$?; kill $!; exit $status",
        printed("0.0.0.0:7001", "/echo-epoll-lt"),
    ),
]
