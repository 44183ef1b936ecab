"""Lets a library load where the C library is older than it asks for.

usage: bench/weak_glibc.py LIBRARY VERSION

Marks the library's need of that version of another as weak, which the dynamic linker may leave unmet. Only for
libraries whose symbols of that version are weak themselves, and so are looked for before they are called.
"""

import pathlib
import struct
import sys

NEEDS = 0x6FFFFFFE  # the type of the section of needed versions
WEAK = 2


def sections(elf):
    """Type, offset and linked section of each section of a 64-bit little-endian ELF file."""
    (start,) = struct.unpack_from("<Q", elf, 0x28)
    size, count = struct.unpack_from("<HH", elf, 0x3A)
    for i in range(count):
        _, kind, _, _, offset, _, link = struct.unpack_from("<IIQQQQI", elf, start + i * size)
        yield kind, offset, link


def chain(elf, at, form):
    """The records of a list, each with its place; the last field is the distance to the next."""
    while True:
        record = struct.unpack_from(form, elf, at)
        yield at, record
        if not record[-1]:
            return
        at += record[-1]


def weaken(elf, version):
    """Marks the needs of the version, and returns how many there are."""
    every, marked = list(sections(elf)), 0
    for _, offset, link in (s for s in every if s[0] == NEEDS):
        names = every[link][1]
        for at, (_, _, _, first, _) in chain(elf, offset, "<HHIII"):
            for need, (_, flags, _, name, _) in chain(elf, at + first, "<IHHII"):
                if elf[names + name : elf.index(0, names + name)] == version.encode():
                    struct.pack_into("<H", elf, need + 4, flags | WEAK)
                    marked += 1
    return marked


def main():
    path, version = pathlib.Path(sys.argv[1]), sys.argv[2]
    elf = bytearray(path.read_bytes())
    if elf[:6] != b"\x7fELF\x02\x01":
        sys.exit(f"{path} is no 64-bit little-endian ELF file")
    if not weaken(elf, version):
        sys.exit(f"{path} does not need {version}")
    path.write_bytes(elf)


if __name__ == "__main__":
    main()
