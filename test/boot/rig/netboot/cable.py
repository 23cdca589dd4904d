"""A cable between a machine and the network that does what real ones do, and some boot ROMs.

QEMU's network card ROMs are all iPXE, and say so in DHCP options 77 (user
class) and 175. Servers answer iPXE differently, so a machine with such a ROM
never takes the path of a plain PXE client. With --plain, the cable takes the two
options out of its DHCP packets until its first TFTP request, that is, for as
long as the boot ROM is in charge. What the ROM then loads (undionly.kpxe, say)
speaks for itself.

With --loss PERCENT, it loses that share of the packets, both ways; the same ones
in every run that sends the same ones. With --rate MBIT, it carries no more than
that in a second.
"""

import argparse
import fcntl
import os
import random
import select
import socket
import struct
import time

TUNSETIFF = 0x400454CA
IFF_TAP_NO_PI = 0x0002 | 0x1000
IPXE_OPTIONS = {77, 175}
DHCP_OPTIONS = 240  # offset of the first option, behind the magic cookie


def open_tap(name: str) -> int:
    tap = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP_NO_PI))
    return tap


def without_options(dhcp: bytes, hidden: set) -> bytes:
    """The same DHCP message, at the same length, less some options."""
    kept = bytearray(dhcp[:DHCP_OPTIONS])
    position = DHCP_OPTIONS
    while position < len(dhcp) and dhcp[position] != 255:
        code = dhcp[position]
        end = position + 1 if code == 0 else position + 2 + dhcp[position + 1]
        if code not in hidden:
            kept += dhcp[position:end]
        position = end
    kept.append(255)
    return bytes(kept.ljust(len(dhcp), b"\0"))


def udp_destination(frame: bytes):
    """Port and payload offset of a UDP packet over IPv4; None for all else."""
    if frame[12:14] != b"\x08\x00" or frame[23] != 17:
        return None
    udp = 14 + (frame[14] & 0x0F) * 4
    return int.from_bytes(frame[udp + 2 : udp + 4], "big"), udp + 8


class PlainRom:
    """Hides that the boot ROM is iPXE."""

    def __init__(self) -> None:
        self.in_charge = True

    def pass_on(self, frame: bytes) -> bytes:
        target = udp_destination(frame) if self.in_charge else None
        if target is None:
            return frame
        port, start = target
        if port == 69:
            self.in_charge = False
        if port not in (67, 4011):
            return frame
        header = bytearray(frame[:start])
        header[-2:] = b"\0\0"  # UDP checksum: none
        return bytes(header) + without_options(frame[start:], IPXE_OPTIONS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tap", help="the interface to make")
    parser.add_argument("local", type=int, help="port of a QEMU `socket,udp=` netdev: ours")
    parser.add_argument("remote", type=int, help="the same: the machine's")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--loss", type=float, default=0)
    parser.add_argument("--rate", type=float, default=0)
    chosen = parser.parse_args()

    tap = open_tap(chosen.tap)
    machine = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    machine.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    machine.bind(("127.0.0.1", chosen.local))
    chance = random.Random(1)
    rom = PlainRom()
    print("ready", flush=True)

    while True:
        for source in select.select([tap, machine], [], [])[0]:
            frame = os.read(tap, 65536) if source is tap else machine.recv(65536)
            if chosen.rate:
                time.sleep(len(frame) * 8 / (chosen.rate * 1e6))
            if chance.random() * 100 < chosen.loss:
                continue
            if source is machine:
                os.write(tap, rom.pass_on(frame) if chosen.plain else frame)
                continue
            try:
                machine.sendto(frame, ("127.0.0.1", chosen.remote))
            except ConnectionRefusedError:
                pass  # the machine is not listening yet


if __name__ == "__main__":
    main()
