"""Reads a packet capture of a boot: what was asked, what was answered, when."""

import hashlib
import ipaddress
import re
import struct
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Iterator, Optional

from . import dhcp

# Bytes to capture of each packet: more than any on this wire has. The kernel keeps a place of this size for each, so
# with more, few places fit into its buffer, and a busy machine loses packets.
SNAPLEN = 1600
# Room for all packets of a boot, so that none is lost when tcpdump has to wait for a processor.
BUFFER_KIB = 128 << 10

BOOTP_PORTS = {67, 68, 4011}
TFTP_PORT = 69


@dataclass
class Packet:
    time: float
    protocol: int
    source: str
    source_port: int
    target: str
    target_port: int
    payload: bytes
    sequence: int = 0
    flags: int = 0


def read_packets(path: Path) -> Iterator[Packet]:
    """The UDP and TCP packets of a classic pcap file; ends at a torn record."""
    if not path.exists():
        return
    with open(path, "rb") as file:
        header = file.read(24)
        if len(header) < 24:
            return
        order = "<" if header[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
        fraction = 1e9 if header[:4] in (b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d") else 1e6
        while len(record := file.read(16)) == 16:
            seconds, part, length, _ = struct.unpack(order + "IIII", record)
            frame = file.read(length)
            if len(frame) < length:
                return
            packet = _parse(seconds + part / fraction, frame)
            if packet:
                yield packet


def _parse(time: float, frame: bytes) -> Optional[Packet]:
    kind, data = frame[12:14], frame[14:]
    if kind == b"\x08\x00" and len(data) >= 20:
        if struct.unpack("!H", data[6:8])[0] & 0x1FFF:
            return None  # a later fragment
        length = struct.unpack("!H", data[2:4])[0]
        protocol, source, target = data[9], data[12:16], data[16:20]
        start = (data[0] & 0x0F) * 4
        data = data[start:length]
    elif kind == b"\x86\xdd" and len(data) >= 40:
        length = struct.unpack("!H", data[4:6])[0]
        protocol, source, target = data[6], data[8:24], data[24:40]
        data = data[40 : 40 + length]
    else:
        return None
    ends = (str(ipaddress.ip_address(source)), str(ipaddress.ip_address(target)))
    if protocol == 17 and len(data) >= 8:
        ports = struct.unpack("!HH", data[:4])
        return Packet(time, 17, ends[0], ports[0], ends[1], ports[1], data[8:])
    if protocol == 6 and len(data) >= 20:
        ports = struct.unpack("!HH", data[:4])
        sequence = struct.unpack("!I", data[4:8])[0]
        start = (data[12] >> 4) * 4
        return Packet(time, 6, ends[0], ports[0], ends[1], ports[1], data[start:], sequence, data[13])
    return None


# --- TFTP -------------------------------------------------------------------


def _tftp_strings(data: bytes) -> list:
    return [text.decode("ascii", "backslashreplace") for text in data.split(b"\0")[:-1]]


def _pairs(words: list) -> dict:
    return dict(zip(words[::2], words[1::2]))


class _TftpReader:
    """Follows the read requests of a capture and what became of each."""

    def __init__(self) -> None:
        self.transfers: list = []
        self._open: dict = {}

    def feed(self, packet: Packet) -> None:
        if len(packet.payload) < 4:
            return
        code = struct.unpack("!H", packet.payload[:2])[0]
        if packet.target_port == TFTP_PORT and code == 1:
            words = _tftp_strings(packet.payload[2:])
            transfer = {
                "time": packet.time, "file": words[0] if words else "",
                "mode": words[1] if len(words) > 1 else "", "asked": _pairs(words[2:]),
                "granted": None, "bytes": 0, "blocks": 0, "resent": 0, "error": None,
                "sha256": None, "end": packet.time,
            }  # fmt: skip
            key = (packet.source, packet.source_port)
            earlier = self._open.get(key)
            if earlier and earlier["file"] == transfer["file"] and not earlier["blocks"]:
                earlier["resent"] += 1  # the request itself was sent again
                return
            self._open[key] = {**transfer, "highest": 0, "hash": hashlib.sha256()}
            self.transfers.append(self._open[key])
            return
        outgoing = self._open.get((packet.source, packet.source_port))
        incoming = self._open.get((packet.target, packet.target_port))
        if incoming is not None and code in (3, 5, 6):
            self._from_server(incoming, code, packet)
        elif outgoing is not None and code == 5:
            outgoing["error"] = "client: " + packet.payload[4:].split(b"\0")[0].decode("ascii", "replace")
            outgoing["end"] = packet.time

    @staticmethod
    def _from_server(transfer: dict, code: int, packet: Packet) -> None:
        transfer["end"] = packet.time
        if code == 6:
            transfer["granted"] = _pairs(_tftp_strings(packet.payload[2:]))
        elif code == 5:
            transfer["error"] = "server: " + packet.payload[4:].split(b"\0")[0].decode("ascii", "replace")
        else:
            number = struct.unpack("!H", packet.payload[2:4])[0]
            # Block numbers wrap at 65536; anything not ahead was sent before.
            ahead = (number - transfer["highest"]) & 0xFFFF
            if 0 < ahead < 0x8000:
                transfer["highest"] = number
                transfer["blocks"] += 1
                transfer["bytes"] += len(packet.payload) - 4
                # A packet that the capture lost, or that came out of turn, leaves no digest to tell.
                if transfer["hash"] and ahead == 1:
                    transfer["hash"].update(packet.payload[4:])
                    transfer["sha256"] = transfer["hash"].hexdigest()
                else:
                    transfer["hash"] = transfer["sha256"] = None
            else:
                transfer["resent"] += 1


# --- HTTP -------------------------------------------------------------------


@dataclass
class _Stream:
    """One direction of a TCP connection, put back in order."""

    start: Optional[int] = None
    segments: list = field(default_factory=list)  # (offset, time, bytes)

    def is_over(self, packet: Packet) -> bool:
        """A packet that begins another connection between the same ports; EDK2 uses a port again."""
        return bool(packet.flags & 0x02) and self.start not in (None, packet.sequence + 1)

    def feed(self, packet: Packet) -> None:
        if packet.flags & 0x02:
            self.start = packet.sequence + 1
        if self.start is None:
            self.start = packet.sequence
        if packet.payload:
            offset = (packet.sequence - self.start) & 0xFFFFFFFF
            if offset < 0x80000000:
                self.segments.append((offset, packet.time, packet.payload))

    def join(self) -> tuple:
        """The bytes up to the first gap, and (offset, time) marks within them."""
        data, marks = bytearray(), []
        for offset, time, payload in sorted(self.segments, key=lambda s: (s[0], s[1])):
            if offset > len(data):
                break
            fresh = payload[len(data) - offset :]
            if fresh:
                marks.append((len(data), time))
                data += fresh
        return bytes(data), marks


def _time_at(marks: list, offset: int) -> float:
    time = marks[0][1] if marks else 0.0
    for start, moment in marks:
        if start > offset:
            break
        time = moment
    return time


_REQUEST = re.compile(rb"^([A-Z]{3,10}) (\S+) (HTTP/\d\.\d)$")
_STATUS = re.compile(rb"^(HTTP/\d\.\d) (\d{3})")


def _head(data: bytes, at: int) -> Optional[tuple]:
    end = data.find(b"\r\n\r\n", at)
    if end < 0:
        return None
    lines = data[at:end].split(b"\r\n")
    headers = {}
    for line in lines[1:]:
        name, _, value = line.partition(b":")
        headers[name.decode("latin1")] = value.strip().decode("latin1")
    return lines[0], headers, end + 4


def _header(headers: dict, name: str) -> str:
    return next((value for key, value in headers.items() if key.lower() == name), "")


def _skip_chunks(data: bytes, at: int) -> tuple:
    """Offset behind a chunked body and the body's size."""
    size = 0
    while True:
        end = data.find(b"\r\n", at)
        if end < 0:
            return len(data), size
        try:
            length = int(data[at:end].split(b";")[0], 16)
        except ValueError:  # a part that was not captured
            return len(data), size
        at = end + 2 + length + 2
        if length == 0 or at > len(data):
            return min(at, len(data)), size + length
        size += length


def _exchanges(requests: _Stream, responses: _Stream) -> Iterator[dict]:
    asked, asked_marks = requests.join()
    answered, answered_marks = responses.join()
    at = back = 0
    while (parsed := _head(asked, at)) and (line := _REQUEST.match(parsed[0])):
        method, target, version = (part.decode("latin1") for part in line.groups())
        _, headers, body = parsed
        exchange = {
            "time": _time_at(asked_marks, at), "method": method, "target": target,
            "version": version, "headers": headers, "status": None,
            "answer_headers": {}, "bytes": 0, "sha256": None, "end": None,
        }  # fmt: skip
        at = body + int(_header(headers, "content-length") or 0)
        answer = _head(answered, back)
        if answer and (status := _STATUS.match(answer[0])):
            _, answer_headers, start = answer
            length = _header(answer_headers, "content-length")
            if method == "HEAD" or status.group(2) in (b"204", b"304"):
                back, size = start, 0
            elif _header(answer_headers, "transfer-encoding") == "chunked":
                back, size = _skip_chunks(answered, start)
            else:
                wanted = int(length) if length else len(answered) - start
                size = min(wanted, len(answered) - start)
                back = start + size
            if length and method != "HEAD" and size == int(length):
                exchange["sha256"] = hashlib.sha256(answered[start:back]).hexdigest()
            exchange.update(
                status=int(status.group(2)),
                answer_headers=answer_headers,
                bytes=size,
                end=_time_at(answered_marks, max(back - 1, 0)),
            )
        yield exchange


def lost_packets(log: Path) -> int:
    """How many packets tcpdump says it could not keep up with."""
    text = log.read_text(errors="replace") if log.exists() else ""
    found = re.search(r"(\d+) packets? dropped by kernel", text)
    return int(found.group(1)) if found else 0


# --- all of it --------------------------------------------------------------


def read(path: Path) -> dict:
    """Decodes a capture; times are as captured, in seconds since the epoch."""
    messages, tftp, streams = [], _TftpReader(), {}
    for packet in read_packets(path):
        if packet.protocol == 6:
            key = (packet.source, packet.source_port, packet.target, packet.target_port)
            ways = streams.setdefault(key, [_Stream()])
            if ways[-1].is_over(packet):
                ways.append(_Stream())
            ways[-1].feed(packet)
            continue
        ports = {packet.source_port, packet.target_port}
        known = dhcp.decode(packet.payload) if ports & BOOTP_PORTS else None
        if known:
            ends = {
                "time": packet.time,
                "from": f"{packet.source} port {packet.source_port}",
                "to": f"{packet.target} port {packet.target_port}",
            }
            messages.append({**ends, **known})
        else:
            tftp.feed(packet)
    http = []
    for key, ways in streams.items():
        back = streams.get((*key[2:], *key[:2]), [])
        ends = {"from": f"{key[0]} port {key[1]}", "to": f"{key[2]} port {key[3]}"}
        for there, answers in zip_longest(ways, back[: len(ways)], fillvalue=_Stream()):
            http += [{**ends, **exchange} for exchange in _exchanges(there, answers)]
    for transfer in tftp.transfers:
        transfer.pop("highest")
        transfer.pop("hash")
    return {
        "dhcp": messages,
        "tftp": tftp.transfers,
        "http": sorted(http, key=lambda exchange: exchange["time"]),
    }
