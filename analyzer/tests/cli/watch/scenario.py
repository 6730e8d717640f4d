"""What the scenarios of `analyzer watch` are written with. Runs in a network namespace of its own: see scenario.rs.

A scenario calls `watch()` once its first listeners are there, does something, and ends with `report()`, which prints
the rounds that were seen and how far the kernel's own counters moved meanwhile.
"""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

ANALYZER = sys.argv[1]
SYN_SENT = 2
kept = []
rounds = []
watcher = None
before = {}


def sysctl(name, value):
    with open("/proc/sys/net/" + name, "w", encoding="ascii") as file:
        file.write(str(value))


def counters():
    with open("/proc/net/netstat", encoding="ascii") as file:
        lines = file.read().splitlines()
    found = {}
    for names, numbers in zip(lines[::2], lines[1::2]):
        found.update(zip(names.split()[1:], map(int, numbers.split()[1:])))
    return found


def listen(port, backlog, address="127.0.0.1", reuse_port=False, defer=False, protocol=0):
    kind = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(kind, socket.SOCK_STREAM, protocol)
    if reuse_port:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind((address, port))
    if defer:
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 30)
    listener.listen(backlog)
    kept.append(listener)
    return listener


def connect(port, times, address="127.0.0.1", patient=False):
    """Starts connections without waiting for them, and keeps them. Unless patient, a SYN that was dropped is not sent
    again: on the loopback its fate is known when connect returns."""
    made = []
    for _ in range(times):
        client = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
        client.setblocking(False)
        client.connect_ex((address, port))
        state = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
        if state == SYN_SENT and not patient:
            client.close()
        else:
            made.append(client)
    kept.extend(made)
    return made


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF


# An address of our own, on a link where nobody answers.
LONELY = "10.99.0.1"


def lonely_link():
    """What a listener on LONELY sends to its neighbours is taken and lost."""
    subprocess.run("ip link add lonely type veth peer name nobody && ip link set lonely arp off up &&"
                   f"ip link set nobody arp off up && ip addr add {LONELY}/16 dev lonely", shell=True, check=True)


def raw_syns(port, times):
    """SYNs whose answers nobody takes: each connection stays half-open."""
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    target = socket.inet_aton(LONELY)
    for number in range(times):
        source = socket.inet_aton(f"10.99.{number // 250 + 1}.{number % 250 + 1}")
        head = struct.pack("!HHIIBBH", 20000 + number, port, number, 0, 5 << 4, 2, 64240)
        pseudo = source + target + struct.pack("!BBH", 0, 6, 20)
        tcp = head + struct.pack("!HH", checksum(pseudo + head + bytes(4)), 0)
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 40, number, 0, 64, 6, 0) + source + target
        raw.sendto(ip + tcp, (LONELY, 0))


def watch(*args, command=()):
    """Starts the analyzer and waits until it has seen what there is."""
    global watcher, before
    watcher = subprocess.Popen([*command, ANALYZER, "watch", "--json", "--interval", "100ms", *args],
                               stdout=subprocess.PIPE, text=True)
    first = watcher.stdout.readline()
    before = counters()

    def read():
        rounds.extend(json.loads(line) for line in watcher.stdout)

    if first:
        rounds.append(json.loads(first))
    threading.Thread(target=read).start()


def settle(seconds=0.35):
    time.sleep(seconds)


def report(**more):
    """Ends the watch after a round that saw everything."""
    settle()
    after = counters()
    if watcher.poll() is None:
        watcher.send_signal(signal.SIGINT)
    status = watcher.wait()
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join()
    moved = {name: number - before[name] for name, number in after.items() if number != before[name]}
    print(json.dumps({"status": status, "rounds": rounds, "moved": moved, **more}))
