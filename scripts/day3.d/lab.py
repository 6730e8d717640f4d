"""Where the experiments run: a network of its own, servers, load generators, traced runs; ended with the script, whatever
way it ends. Knows nothing of what is measured."""

import contextlib
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RELEASE = os.path.join(ROOT, "target", "release")
BENCH = os.path.join(RELEASE, "bench")
ANALYZER = os.path.join(RELEASE, "analyzer")
INSIDE = "IN_OWN_NETWORK"
PROGRAMS = ("analyzer", "bench", "echo-epoll-lt", "echo-epoll-et")


class Stopped(BaseException):
    """A signal that ends the script, after its children."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


def build():
    """A release build, made if something is missing."""
    if not all(os.path.exists(os.path.join(RELEASE, program)) for program in PROGRAMS):
        subprocess.run(["cargo", "build", "--release", "-p", "analyzer", "-p", "echo-core"], cwd=ROOT, check=True)


def enter_own_network():
    """Starts the script again in a network namespace: ports, TIME_WAIT and kernel counters are then its own."""
    if os.environ.get(INSIDE):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    if not shutil.which("unshare") or not shutil.which("ip"):
        sys.exit(f"{os.path.basename(sys.argv[0])}: needs unshare and ip\nhint: apt-get install util-linux iproute2")
    as_root = [] if os.geteuid() == 0 else ["-r"]
    command = ["unshare", "-n", *as_root, sys.executable, *sys.argv]
    os.execvpe("unshare", command, {**os.environ, INSIDE: "1" if os.geteuid() == 0 else "user"})


def may_trace():
    """Tracing needs root, and not only in a namespace."""
    return os.environ.get(INSIDE) == "1"


def stop_on_signals():
    def stop(number, _frame):
        raise Stopped(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)


class Lab:
    """Starts programs, and ends what is left of them."""

    def __init__(self, folder):
        self.folder = folder
        self.children = []
        self.scratch = tempfile.mkdtemp(prefix="lab-")
        self.runs = []

    def close(self):
        for child in self.children:
            if child.poll() is None:
                child.terminate()
        deadline = time.monotonic() + 10
        for child in self.children:
            try:
                child.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def start(self, command, **options):
        # A session of its own: a Ctrl-C in the terminal is for the script, which ends the others in order.
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, **options)
        self.children.append(child)
        return child

    def end(self, child, number, patience):
        if child.poll() is None:
            child.send_signal(number)
        try:
            child.wait(patience)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        self.children.remove(child)

    @contextlib.contextmanager
    def server(self, name, backlog=4096):
        """A running server; gives its port."""
        command = [os.path.join(RELEASE, name), "--bind", "127.0.0.1", "--port", "0", "--backlog", str(backlog)]
        child = self.start(command, stdout=subprocess.PIPE, text=True)
        try:
            line = child.stdout.readline()
            if not line.startswith("listening on "):
                raise RuntimeError(f"{name} does not listen: {line!r}")
            yield int(line.rsplit(":", 1)[1])
        finally:
            self.end(child, signal.SIGTERM, 10)
            child.stdout.close()

    def bench(self, port, arguments, limit_s):
        """One run of the load generator; interrupted, and so partial, after the limit."""
        file = os.path.join(self.scratch, "result.json")
        with contextlib.suppress(FileNotFoundError):
            os.remove(file)
        command = [BENCH, "--port", str(port), "--force", "--json", file, *map(str, arguments)]
        child = self.start(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            _, errors = child.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGINT)
            _, errors = child.communicate(timeout=30)
        self.children.remove(child)
        if not os.path.exists(file):
            raise RuntimeError(f"{' '.join(command)} ended with {child.returncode}:\n{errors}")
        with open(file, encoding="utf-8") as text:
            result = json.load(text)
        self.runs.append({"arguments": list(map(str, arguments)), "result": result})
        return result

    def trace(self, name, server, arguments, limit_s):
        """One traced run of a server and a load; gives its recording."""
        folder = os.path.join(self.folder, name)
        target = f"{os.path.join(RELEASE, server)} --bind 127.0.0.1 --port 9988 --backlog 4096"
        command = [ANALYZER, "trace", "-o", folder, "--target", target, "--", BENCH, *map(str, arguments)]
        child = self.start(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            _, errors = child.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGINT)
            _, errors = child.communicate(timeout=30)
        self.children.remove(child)
        recordings = sorted(glob.glob(os.path.join(folder, "*", "recording.json")), key=os.path.getmtime)
        if child.returncode != 0 or not recordings:
            raise RuntimeError(f"{' '.join(command)} ended with {child.returncode}:\n{errors}")
        with open(recordings[-1], encoding="utf-8") as text:
            return json.load(text)
