"""Makes a disk that says on the serial console that it was booted.

One image serves BIOS and x64 UEFI: a FAT12 file system whose boot sector has the
program for the one, and whose EFI/BOOT/BOOTX64.EFI is the program for the other.
"""

import struct
from pathlib import Path

MARKER = "NODE disk"

SECTOR = 512
SECTORS = 2880
FAT_SECTORS = 9
ROOT_ENTRIES = 224
ROOT_START = 1 + 2 * FAT_SECTORS
DATA_START = ROOT_START + ROOT_ENTRIES * 32 // SECTOR

DIRECTORY = 0x10
END_OF_CHAIN = 0xFFF


def _program() -> bytes:
    """x86 code that writes the marker to the first serial port, then halts.

    It reads the same in 16-bit and 64-bit mode but for the first instruction's
    operand, which the caller puts in front.
    """
    code = b"".join(b"\xb0" + bytes([letter]) + b"\xee" for letter in f"\r\n{MARKER}\r\n".encode())
    return code + b"\xf4\xeb\xfd"  # hlt; jump back to it


BIOS_PROGRAM = b"\xba\xf8\x03" + _program()  # mov dx, 3f8h
UEFI_PROGRAM = b"\x66\xba\xf8\x03" + _program()


def _efi_application(code: bytes) -> bytes:
    """The smallest PE32+ file that firmware takes for an application."""
    headers, align = 0x200, 0x200
    size = (len(code) + align - 1) // align * align
    dos = b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", 0x40)
    coff = struct.pack("<HHIIIHH", 0x8664, 1, 0, 0, 0, 240, 0x0022)
    optional = struct.pack("<HBBIIIII", 0x20B, 0, 0, size, 0, 0, headers, headers)
    optional += struct.pack("<QII", 0, align, align)  # base, section and file alignment
    optional += struct.pack("<HHHHHH", 0, 0, 0, 0, 0, 0) + struct.pack("<I", 0)
    optional += struct.pack("<IIIHH", headers + size, headers, 0, 10, 0)  # 10: EFI application
    optional += struct.pack("<QQQQII", 0, 0, 0, 0, 0, 16) + bytes(16 * 8)
    section = b".text".ljust(8, b"\0")
    section += struct.pack("<IIIIIIHHI", size, headers, size, headers, 0, 0, 0, 0, 0x60000020)
    return (dos + b"PE\0\0" + coff + optional + section).ljust(headers, b"\0") + code.ljust(size, b"\0")


def _entry(name: str, attributes: int, cluster: int, size: int = 0) -> bytes:
    base, _, extension = name.partition(".")
    short = (base.ljust(8) + extension.ljust(3)) if name.strip(".") else name.ljust(11)
    return short.encode() + bytes([attributes]) + bytes(14) + struct.pack("<HI", cluster, size)


def _boot_sector() -> bytes:
    parameters = struct.pack(
        "<8sHBHBHHBHHHIIBBBI11s8s",
        b"NETBOOT ", SECTOR, 1, 1, 2, ROOT_ENTRIES, SECTORS, 0xF0, FAT_SECTORS,
        18, 2, 0, 0, 0, 0, 0x29, 1, b"NETBOOT RIG", b"FAT12   ",
    )  # fmt: skip
    jump = b"\xeb" + bytes([3 + len(parameters) - 2]) + b"\x90"
    return (jump + parameters + BIOS_PROGRAM).ljust(SECTOR - 2, b"\0") + b"\x55\xaa"


def write_disk(path: Path) -> None:
    application = _efi_application(UEFI_PROGRAM)
    efi, boot, first = 2, 3, 4  # clusters, of one sector each
    count = len(application) // SECTOR
    chain = {efi: END_OF_CHAIN, boot: END_OF_CHAIN, first + count - 1: END_OF_CHAIN}
    chain.update({cluster: cluster + 1 for cluster in range(first, first + count - 1)})

    fat = bytearray(FAT_SECTORS * SECTOR)
    for cluster, value in {0: 0xFF0, 1: END_OF_CHAIN, **chain}.items():
        at, shift = cluster * 3 // 2, 4 * (cluster % 2)
        pair = struct.unpack_from("<H", fat, at)[0] | value << shift
        struct.pack_into("<H", fat, at, pair)

    image = bytearray(SECTORS * SECTOR)

    def put(sector: int, data: bytes) -> None:
        image[sector * SECTOR : sector * SECTOR + len(data)] = data

    def cluster_sector(cluster: int) -> int:
        return DATA_START + cluster - 2

    put(0, _boot_sector())
    put(1, fat)
    put(1 + FAT_SECTORS, fat)
    put(ROOT_START, _entry("EFI", DIRECTORY, efi))
    put(
        cluster_sector(efi),
        _entry(".", DIRECTORY, efi) + _entry("..", DIRECTORY, 0) + _entry("BOOT", DIRECTORY, boot),
    )
    put(
        cluster_sector(boot),
        _entry(".", DIRECTORY, boot)
        + _entry("..", DIRECTORY, efi)
        + _entry("BOOTX64.EFI", 0x20, first, len(application)),
    )
    put(cluster_sector(first), application)
    path.write_bytes(image)
