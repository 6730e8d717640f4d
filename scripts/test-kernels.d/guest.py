"""One run of a kernel in QEMU: the initramfs it starts from, and what its commands printed.

The guest has one CPU: QEMU 7.2 without hardware virtualization crashes a guest of several as soon as the kernel patches its
own code, which every attached probe makes it do.
"""

import dataclasses
import os
import re
import shutil
import stat
import subprocess
import tempfile

BUSYBOX = "/bin/busybox"
TROUBLE = re.compile(rb"WARNING: CPU|BUG: |Oops|general protection|Kernel panic|rcu.*stall")

# ttyS0 is the kernel's console, ttyS1 what the commands print: for each `@@ NUMBER STATUS STDOUT-BYTES STDERR-BYTES` and both.
INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/root
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp; mount -t bpf bpf /sys/fs/bpf; mount -t tracefs tracefs /sys/kernel/tracing
ip link set lo up; ulimit -l unlimited; ulimit -n 4096
stty -F /dev/ttyS1 raw -echo
for module in /modules/*.ko; do [ -e "$module" ] && insmod "$module"; done
cd /root
for command in /commands/*; do
  timeout -s KILL LIMIT sh "$command" </dev/null >/tmp/stdout 2>/tmp/stderr; status=$?
  { echo "@@ ${command##*/} $status $(stat -c %s /tmp/stdout) $(stat -c %s /tmp/stderr)"
    cat /tmp/stdout /tmp/stderr; } >/dev/ttyS1
done
echo "@@ end" >/dev/ttyS1
stty -F /dev/ttyS1 drain
poweroff -f
"""


@dataclasses.dataclass
class Output:
    """What one command left."""

    status: int
    stdout: str
    stderr: str



class Tree:
    """Files of an initramfs, as the archive format `newc` that the kernel reads (v6.18 init/initramfs.c)."""

    def __init__(self):
        self.entries = {}
        for folder in ("bin", "dev", "etc", "proc", "root", "sys", "tmp", "modules", "commands"):
            self.folder(folder)

    def folder(self, path):
        self.entries.setdefault(path, (stat.S_IFDIR | 0o755, b""))

    def file(self, path, data, mode=0o755):
        parent = os.path.dirname(path)
        while parent:
            self.folder(parent)
            parent = os.path.dirname(parent)
        self.entries[path] = (stat.S_IFREG | mode, data)

    def program(self, source, path):
        """A program without its debug information, and the shared libraries it needs, each at its own path."""
        with tempfile.TemporaryDirectory() as scratch:
            small = os.path.join(scratch, "small")
            if not shutil.which("strip") or subprocess.run(["strip", "-o", small, source], check=False).returncode != 0:
                small = source
            self.file(path, contents(small))
        linked = subprocess.run(["ldd", source], capture_output=True, text=True, check=False)
        for library in re.findall(r"(?:=> |^\s*)(/\S+) \(0x", linked.stdout, re.MULTILINE):
            if library.lstrip("/") not in self.entries:
                self.file(library.lstrip("/"), contents(library))

    def archive(self):
        parts = []
        for number, (path, (mode, data)) in enumerate(sorted(self.entries.items()), 1):
            parts.append(newc(number, path, mode, data))
        parts.append(newc(0, "TRAILER!!!", 0, b""))
        return b"".join(parts)


def newc(inode, path, mode, data):
    name = path.encode() + b"\0"
    fields = (inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0)
    head = b"070701" + b"".join(b"%08x" % field for field in fields) + name
    return padded(head) + padded(data)


def padded(data):
    return data + b"\0" * (-len(data) % 4)


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def run(kernel, programs, modules, commands, limit):
    """Boots the kernel with these programs in /bin, and runs the commands (shell scripts) one after the other.

    `limit`: seconds for each command; the whole takes a minute more at most, for the boot.
    """
    tree = Tree()
    tree.program(BUSYBOX, "bin/busybox")
    tree.file("init", INIT.replace("LIMIT", str(limit)).encode())
    for program in programs:
        tree.program(program, "bin/" + os.path.basename(program))
    for number, (name, data) in enumerate(kernel.with_dependencies(modules)):
        tree.file(f"modules/{number:02}-{name}.ko", data)
    for number, command in enumerate(commands):
        tree.file(f"commands/{number:03}", command.encode() + b"\n")
    with tempfile.TemporaryDirectory() as scratch:
        initramfs, console, results = (os.path.join(scratch, name) for name in ("initramfs", "console", "results"))
        with open(initramfs, "wb") as file:
            file.write(tree.archive())
        for path in (console, results):
            open(path, "wb").close()
        error = boot(kernel.image(), initramfs, console, results, limit * len(commands) + 60)
        return outputs(contents(results), len(commands)), complaints(contents(console), error)


def boot(image, initramfs, console, results, limit):
    """Returns what went wrong, if anything did."""
    command = ["qemu-system-x86_64", "-accel", "tcg,thread=single,tb-size=256", "-cpu", "max", "-smp", "1", "-m", "1024"]
    command += ["-display", "none", "-nodefaults", "-no-user-config", "-no-reboot", "-net", "none"]
    command += ["-serial", f"file:{console}", "-serial", f"file:{results}", "-kernel", image, "-initrd", initramfs]
    command += ["-append", "console=ttyS0 loglevel=5 panic=-1 oops=panic random.trust_cpu=on no_timer_check nokaslr"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return f"no end within {limit} s"
    return done.stderr.decode(errors="replace").strip() if done.returncode != 0 else ""


def complaints(console, error):
    """What the kernel itself complained of."""
    lines = console.splitlines()
    at = next((number for number, line in enumerate(lines) if TROUBLE.search(line)), None)
    told = lines[at : at + 12] if at is not None else lines[-12:] if error else []
    return "\n".join([error] * bool(error) + [line.decode(errors="replace").rstrip() for line in told])


def outputs(data, wanted):
    """The commands' outputs, as far as they came."""
    found, at = [], 0
    while len(found) < wanted:
        head = re.compile(rb"@@ \d+ (\d+) (\d+) (\d+)\n").match(data, at)
        if not head or head.end() + int(head[2]) + int(head[3]) > len(data):
            break
        middle = head.end() + int(head[2])
        at = middle + int(head[3])
        text = (data[head.end() : middle].decode(errors="replace"), data[middle:at].decode(errors="replace"))
        found.append(Output(int(head[1]), *text))
    return found
