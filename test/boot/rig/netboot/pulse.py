"""Whether a machine still does anything.

A slow emulator needs minutes for what takes a real machine seconds, so a boot is
given up for its silence, not for its length.
"""

import time
from pathlib import Path

from .network import TAP

INTERFACES = Path("/proc/net/dev")


def sent_packets(interfaces: str, name: str) -> int:
    """How many packets came in on an interface, by the text of /proc/net/dev; none if there is no such interface."""
    for line in interfaces.splitlines():
        interface, _, counters = line.partition(":")
        if interface.strip() == name:
            return int(counters.split()[1])
    return 0


class Pulse:
    def __init__(self, console: Path, interfaces: Path = INTERFACES, clock=time.monotonic) -> None:
        self._console = console
        self._interfaces = interfaces
        self._clock = clock
        self._seen: tuple = ()
        self._since = clock()

    def silence(self) -> float:
        """Seconds since the machine was last seen to write to its console or to send a packet."""
        written = self._console.stat().st_size if self._console.exists() else 0
        seen = (written, sent_packets(self._interfaces.read_text(), TAP))
        if seen != self._seen:
            self._seen = seen
            self._since = self._clock()
        return self._clock() - self._since
