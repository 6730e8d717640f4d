"""An echo server and its load: requests per second with the server, the client, both, or neither of them traced."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time

from tracers import NONE, OURS, RELEASE, printed

SERVER = os.path.join(RELEASE, "echo-epoll-lt")
BENCH = os.path.join(RELEASE, "bench")
PORT = 9988
# Share of what an untraced server can do that leaves CPU idle on both sides.
FIXED_SHARE = 0.3


class Echo:
    """The server under a load of 100 connections."""

    better = "higher"
    unit = "requests per second"

    def __init__(self, mode, seconds, fixed=False):
        self.name = f"echo, {mode} mode, " + ("fixed rate" if fixed else "saturated")
        self.options = ["--mode", mode, "--connections", "100", "--duration", f"{round(seconds * 1000)}ms"]
        self.fixed = fixed

    def variants(self, tracers):
        """Every tracer on the server; ours also on the client, on both, and on neither."""
        joining = [tracer for tracer in tracers if tracer.join or tracer.name == NONE]
        every = {
            tracer.name if tracer.name == NONE else f"{tracer.name}: server": self.variant(tracer, "server")
            for tracer in joining
        }
        ours = next((tracer for tracer in tracers if tracer.name == OURS), None)
        for traced in ("client", "both", "bystander") if ours else ():
            every[f"{ours.name}: {traced}"] = self.variant(ours, traced)
        return every

    def variant(self, tracer, traced):
        return lambda scratch: self.run(tracer, traced, scratch)

    def run(self, tracer, traced, scratch):
        if self.fixed and "--rate" not in self.options:
            self.options += ["--rate", str(int(self.saturation(scratch) * FIXED_SHARE))]
            self.name += f" of {self.options[-1]} per second"
        with contextlib.ExitStack() as stack:
            server = stack.enter_context(ended([SERVER, "--port", str(PORT)]))
            await_listener()
            prefix = []
            if tracer.name != NONE:
                if traced == "bystander":
                    other = stack.enter_context(ended(["sleep", "600"]))
                    stack.enter_context(tracer.beside(other.pid, scratch))
                elif traced == "server":
                    stack.enter_context(tracer.beside(server.pid, scratch))
                else:
                    also = ["-p", str(server.pid)] if traced == "both" else []
                    words = [word.replace("SCRATCH", scratch) for word in tracer.start]
                    prefix = words[:-1] + also + ["--"]
            per_second = self.requests_per_second(prefix, scratch)
        return per_second, per_second

    def saturation(self, scratch):
        with ended([SERVER, "--port", str(PORT)]):
            await_listener()
            unlimited = Echo("long", 0.5)
            return max(unlimited.requests_per_second([], scratch) for _ in range(3))

    def requests_per_second(self, prefix, scratch):
        result = os.path.join(scratch, "bench.json")
        # A rate that is not held is a result, and to `bench` a failure.
        words = prefix + [BENCH, "--port", str(PORT), "--json", result] + self.options
        text = printed(words, scratch, may_fail=self.fixed)
        with open(result, encoding="utf-8") as file:
            found = json.load(file)
        failed = {kind: count for kind, count in found["failed"].items() if kind != "not-sent"}
        if failed:
            sys.exit(f"bench-overhead: {self.name}: requests failed:\n{text}")
        return found["ok"] / (found["elapsed_ns"] / 1e9)


@contextlib.contextmanager
def ended(command):
    """Runs a command until the end of the context."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def await_listener():
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", PORT)):
            return
        time.sleep(0.01)
    sys.exit(f"bench-overhead: `{SERVER}` does not listen")
