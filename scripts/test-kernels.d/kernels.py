"""Stock Debian kernels: finds the package of a version, downloads it once, unpacks it once."""

import glob
import lzma
import os
import re
import shutil
import subprocess
import zlib

# How a vmlinuz may hold its vmlinux: first bytes, and what unpacks them.
PACKINGS = (
    (b"\xfd7zXZ\x00", lambda data: lzma.LZMADecompressor().decompress(data)),
    (b"\x28\xb5\x2f\xfd", lambda data: filtered(["zstd", "-dcq"], data)),
    (b"\x02\x21\x4c\x18", lambda data: filtered(["lz4", "-dcq"], data)),
    (b"\x1f\x8b\x08", lambda data: zlib.decompressobj(31).decompress(data)),
)
MODULE_PACKINGS = {".xz": ["xz", "-dc"], ".zst": ["zstd", "-dcq"], ".gz": ["gzip", "-dc"], ".ko": ["cat"]}


class Missing(Exception):
    """Something is not to be had; the text says what, and what to do."""


class Kernel:
    """An unpacked kernel package."""

    def __init__(self, tree):
        self.tree = tree
        images = glob.glob(os.path.join(tree, "boot", "vmlinuz-*"))
        if not images:
            raise Missing(f"no boot/vmlinuz-* in `{tree}`")
        self.vmlinuz = images[0]
        self.release = os.path.basename(images[0]).removeprefix("vmlinuz-")
        self.modules = next(iter(glob.glob(f"{tree}/**/modules/{self.release}", recursive=True)), None)

    def image(self):
        """What QEMU boots: the kernel as a plain ELF file where possible, since under emulation it takes seconds to
        unpack itself; else the vmlinuz."""
        plain = os.path.join(self.tree, "vmlinux")
        if not os.path.exists(plain):
            data = unpacked(self.vmlinuz) if self.enters_as_elf() else b""
            with open(plain + ".part", "wb") as file:
                file.write(data)
            os.rename(plain + ".part", plain)
        return plain if os.path.getsize(plain) else self.vmlinuz

    def enters_as_elf(self):
        with open(os.path.join(self.tree, "boot", f"config-{self.release}"), encoding="utf-8") as config:
            return "\nCONFIG_PVH=y\n" in config.read()

    def with_dependencies(self, names):
        """The modules of these names and what they need, in the order of loading, as (name, bytes)."""
        ordered = {}

        def add(name):
            if name in ordered:
                return
            spelled = re.sub("[-_]", "[-_]", name)
            files = glob.glob(f"{self.modules}/**/{spelled}.ko*", recursive=True) if self.modules else []
            if not files:
                return  # built in, or this kernel has none: the check that needs it will tell
            unpack = MODULE_PACKINGS[os.path.splitext(files[0])[1]]
            data = subprocess.run(unpack + [files[0]], check=True, capture_output=True).stdout
            found = re.search(rb"\0depends=([^\0]*)\0", data)
            for needed in filter(None, found.group(1).decode().split(",") if found else []):
                add(needed)
            ordered[name] = data

        for name in names:
            add(name)
        return ordered.items()


def filtered(command, data):
    return subprocess.run(command, input=data, capture_output=True, check=False).stdout


def unpacked(vmlinuz):
    """The ELF file in a vmlinuz, or nothing."""
    with open(vmlinuz, "rb") as file:
        data = file.read()
    for magic, unpack in PACKINGS:
        for found in re.finditer(re.escape(magic), data):
            try:
                plain = unpack(data[found.start() :])
            except (lzma.LZMAError, zlib.error, FileNotFoundError):
                continue
            if plain[:4] == b"\x7fELF":
                return plain
    return b""


def package_of(version):
    """The package that is now Debian's cloud kernel of this version: the general one or one of backports."""
    for general in (f"linux-image-{version}-cloud-amd64", "linux-image-cloud-amd64"):
        listed = subprocess.run(["apt-cache", "depends", general], capture_output=True, text=True, check=False).stdout
        found = re.search(rf"Depends: (linux-image-{re.escape(version)}[.+~-]\S*-cloud-amd64)", listed)
        if found:
            return found.group(1)
    raise Missing(f"apt knows no cloud kernel {version}\nhint: apt-get update, with backports among the sources")


def kernel_of(version, cache):
    """The kernel of a version such as 6.12, or of a package file; downloads stay in `cache`."""
    os.makedirs(cache, exist_ok=True)
    if version.endswith(".deb"):
        return unpack_package(version, cache)
    package = package_of(version)
    files = glob.glob(os.path.join(cache, f"{package}_*.deb"))
    if not files:
        # In a folder of its own: a download that was cut short is not taken for a package.
        part = os.path.join(cache, f"{package}.part")
        os.makedirs(part, exist_ok=True)
        fetched = subprocess.run(["apt-get", "download", "-qq", package], cwd=part, capture_output=True, text=True, check=False)
        if fetched.returncode != 0:
            raise Missing(f"failed to download `{package}`: {fetched.stderr.strip()}")
        for name in os.listdir(part):
            os.rename(os.path.join(part, name), os.path.join(cache, name))
        os.rmdir(part)
        files = glob.glob(os.path.join(cache, f"{package}_*.deb"))
    return unpack_package(files[0], cache)


def unpack_package(file, cache):
    tree = os.path.join(cache, os.path.basename(file).removesuffix(".deb"))
    if not os.path.isdir(tree):
        part = tree + ".part"
        shutil.rmtree(part, ignore_errors=True)
        subprocess.run(["dpkg-deb", "-x", file, part], check=True)
        os.rename(part, tree)
    return Kernel(tree)
