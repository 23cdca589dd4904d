"""Decodes DHCP messages into plain dictionaries."""

import ipaddress
import struct
import uuid
from typing import Iterator, Optional

MESSAGES = {
    1: "DISCOVER", 2: "OFFER", 3: "REQUEST", 4: "DECLINE",
    5: "ACK", 6: "NAK", 7: "RELEASE", 8: "INFORM",
}  # fmt: skip

OPTIONS = {
    1: "subnet-mask", 3: "router", 6: "dns", 12: "hostname", 13: "boot-file-size",
    15: "domain", 17: "root-path", 28: "broadcast", 43: "vendor", 50: "requested-address",
    51: "lease-time", 52: "overload", 53: "message-type", 54: "server-id",
    55: "parameter-list", 57: "max-message-size", 58: "renewal-time",
    59: "rebinding-time", 60: "vendor-class", 61: "client-id", 66: "tftp-server",
    67: "boot-file", 77: "user-class", 93: "client-arch", 94: "client-ndi",
    97: "client-uuid", 119: "domain-search", 175: "ipxe", 209: "config-file",
    210: "path-prefix",
}  # fmt: skip

PXE_VENDOR_OPTIONS = {
    6: "discovery-control", 7: "multicast-address", 8: "boot-servers", 9: "boot-menu",
    10: "menu-prompt", 71: "boot-item",
}  # fmt: skip

_TEXT = {12, 15, 17, 60, 66, 67, 209, 210}
_ADDRESSES = {1, 3, 6, 28, 50, 54}
_SECONDS = {51, 58, 59}


def split_options(data: bytes) -> Iterator[tuple]:
    """Yields (code, value) in the order on the wire; stops at the end option."""
    position = 0
    while position < len(data) and data[position] != 255:
        code = data[position]
        if code == 0:
            position += 1
            continue
        if position + 1 >= len(data):
            return
        length = data[position + 1]
        yield code, data[position + 2 : position + 2 + length]
        position += 2 + length


def _text(value: bytes) -> str:
    return value.decode("ascii", "backslashreplace")


def _show_option(code: int, value: bytes):
    if code == 53 and value:
        return MESSAGES.get(value[0], str(value[0]))
    if code in _TEXT or (code == 77 and value.isascii() and value[:1].isalpha()):
        return _text(value.rstrip(b"\0"))
    if code in _ADDRESSES and len(value) % 4 == 0:
        return [str(ipaddress.IPv4Address(value[i : i + 4])) for i in range(0, len(value), 4)]
    if code in _SECONDS and len(value) == 4:
        return struct.unpack("!I", value)[0]
    if code in (57, 93, 13) and len(value) == 2:
        return struct.unpack("!H", value)[0]
    if code == 55:
        return list(value)
    if code == 94 and len(value) == 3:
        return f"{value[0]}.{value[1]}.{value[2]}"
    if code == 97 and len(value) == 17:
        # On the wire as SMBIOS stores it: the first three fields little-endian.
        return {"type": value[0], "hex": value[1:].hex(), "uuid": str(uuid.UUID(bytes_le=value[1:]))}
    if code in (43, 175):
        names = PXE_VENDOR_OPTIONS if code == 43 else {}
        return {names.get(sub, str(sub)): data.hex() for sub, data in split_options(value)}
    return value.hex()


def decode(payload: bytes) -> Optional[dict]:
    """A DHCP message as a dictionary, options by "code name" in wire order."""
    if len(payload) < 240 or payload[236:240] != b"\x63\x82\x53\x63":
        return None
    options = {}
    for code, value in split_options(payload[240:]):
        options[f"{code} {OPTIONS.get(code, '')}".strip()] = _show_option(code, value)
    addresses = {
        name: str(ipaddress.IPv4Address(payload[at : at + 4]))
        for name, at in (("ciaddr", 12), ("yiaddr", 16), ("siaddr", 20), ("giaddr", 24))
    }
    return {
        "type": options.get("53 message-type", "BOOTP"),
        "xid": payload[4:8].hex(),
        "secs": struct.unpack("!H", payload[8:10])[0],
        "broadcast": bool(payload[10] & 0x80),
        **{name: address for name, address in addresses.items() if address != "0.0.0.0"},
        "mac": payload[28:34].hex(":"),
        "sname": _text(payload[44:108].split(b"\0")[0]),
        "file": _text(payload[108:236].split(b"\0")[0]),
        "options": options,
        "size": len(payload),
        "hex": payload.hex(),
    }
