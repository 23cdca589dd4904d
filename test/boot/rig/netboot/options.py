"""The command line of `boot`."""

import argparse
import re
import uuid
import zlib

from .disk import MARKER
from .machines import FIRMWARE

DESCRIPTION = """\
Boots one emulated machine from the network, in a network that nobody else can
see, against a server command of yours, and says how the boot went. It succeeds
when the machine reached the payload and the payload phoned home."""

EPILOG = "exit status: 0 booted, 1 did not boot, 2 the rig could not run, 130 interrupted\n\nfirmware:\n"


def _mac(value: str) -> str:
    if not re.fullmatch(r"[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}", value):
        raise argparse.ArgumentTypeError(f"{value!r} is no MAC address")
    return value.lower()


def parse(arguments: list) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="boot",
        description=DESCRIPTION,
        epilog=EPILOG + "".join(f"  {name:<17} {kind.summary}\n" for name, kind in FIRMWARE.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    option = parser.add_argument
    option("--firmware", required=True, choices=FIRMWARE, metavar="NAME", help="see below")
    option("--out", required=True, metavar="DIR", help="for the logs, the capture and report.json")
    option(
        "--server", required=True, metavar="CMD",
        help="shell command of the server under test, run in its network namespace",
    )  # fmt: skip
    option(
        "--ready", metavar="CMD",
        help="shell command, run there until it succeeds; only then is the machine switched on",
    )  # fmt: skip
    option("--timeout", default=600, type=float, metavar="SECONDS", help="for the whole run (%(default)s)")
    option(
        "--patience", default=120, type=float, metavar="SECONDS",
        help="for a machine that neither writes to its console nor sends a packet (%(default)s)",
    )  # fmt: skip
    option(
        "--site-dhcp", action="store_true",
        help="the site has a DHCP server (dnsmasq) that gives out addresses and knows nothing of booting",
    )  # fmt: skip
    option(
        "--site-arg", action="append", default=[], metavar="ARG",
        help="further dnsmasq option for the site; may be repeated",
    )  # fmt: skip
    option("--site-cmd", metavar="CMD", help="another DHCP server of the site, run in its namespace")
    option("--relay", action="store_true", help="the machine is on another segment, behind a relay")
    option("--loss", default=0, type=float, metavar="PERCENT", help="packets lost on the machine's cable")
    option("--rate", default=0, type=float, metavar="MBIT", help="what the machine's cable carries in a second")
    option("--mac", default="52:54:00:77:00:01", type=_mac, metavar="MAC", help="of its card (%(default)s)")
    option("--idle-card", type=_mac, metavar="MAC", help="a first card with this MAC, and no link")
    option("--memory", default=1024, type=int, metavar="MIB", help="the machine's memory (%(default)s)")
    option("--disk", action="store_true", help=f"a disk that writes '{MARKER}' when it is booted")
    option(
        "--steady-clock", action="store_true",
        help="the machine's clock goes by the instructions that it ran: GRUB measures for a millisecond how fast its"
        " processor is, and on a busy host its sleep of 15 seconds may then last for minutes",
    )  # fmt: skip
    option("--reboots", action="store_true", help="let the machine reboot instead of ending")
    option(
        "--expect", action="append", metavar="REGEX",
        help="succeed when each REGEX was seen on the console, instead of when the payload phoned home",
    )  # fmt: skip
    option(
        "--on", nargs=2, action="append", default=[], metavar=("REGEX", "CMD"),
        help="when REGEX is first seen on the console or in the server's log, run CMD beside the server",
    )  # fmt: skip
    option("--qemu-arg", action="append", default=[], metavar="ARG", help="further QEMU argument")

    chosen = parser.parse_args(arguments)
    # The same machine has the same UUID in every run.
    digits = f"{zlib.crc32(chosen.mac.encode()):08x}"
    chosen.uuid = str(uuid.UUID(f"{digits}-7777-4777-8777-{chosen.mac.replace(':', '')}"))
    return chosen
