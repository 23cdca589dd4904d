"""What needs no machine and no network: python3 test/boot/rig/test_rig.py"""

import hashlib
import struct
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from netboot import cable, capture, dhcp, disk  # noqa: E402
from netboot.console import Console  # noqa: E402
from netboot.network import TAP  # noqa: E402
from netboot.pulse import Pulse, sent_packets  # noqa: E402

CLIENT, SERVER = "192.0.2.150", "192.0.2.10"


def ip4(protocol: int, source: str, target: str, data: bytes) -> bytes:
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(data), 0, 0, 64, protocol, 0)
    for address in (source, target):
        header += bytes(int(part) for part in address.split("."))
    return bytes(12) + b"\x08\x00" + header + data


def udp(source: str, source_port: int, target: str, target_port: int, payload: bytes) -> bytes:
    data = struct.pack("!HHHH", source_port, target_port, 8 + len(payload), 0) + payload
    return ip4(17, source, target, data)


def tcp(source, source_port, target, target_port, sequence, payload, flags=0x18) -> bytes:
    data = struct.pack("!HHIIBBHHH", source_port, target_port, sequence, 0, 5 << 4, flags, 0, 0, 0)
    return ip4(6, source, target, data + payload)


def dhcp_message(*packed_options: bytes) -> bytes:
    message = bytearray(240)
    message[0:3] = b"\x01\x01\x06"
    message[28:34] = bytes.fromhex("525400770001")
    message[236:240] = b"\x63\x82\x53\x63"
    return bytes(message) + b"".join(packed_options) + b"\xff"


def packed(code: int, value: bytes) -> bytes:
    return bytes([code, len(value)]) + value


def seen(*frames: bytes) -> dict:
    """Decodes a capture of these frames, one each second from 100 s on."""
    content = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    for number, frame in enumerate(frames):
        content += struct.pack("<IIII", 100 + number, 0, len(frame), len(frame)) + frame
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "test.pcap"
        path.write_bytes(content)
        return capture.read(path)


class DhcpTest(unittest.TestCase):
    def test_a_discover(self):
        message = dhcp_message(
            packed(53, b"\x01"),
            packed(60, b"PXEClient:Arch:00007:UNDI:003000"),
            packed(93, b"\x00\x07"),
            packed(97, b"\x00" + bytes.fromhex("00112233445566778899aabbccddeeff")),
        )
        (found,) = seen(udp("0.0.0.0", 68, "255.255.255.255", 67, message))["dhcp"]
        self.assertEqual((found["type"], found["mac"]), ("DISCOVER", "52:54:00:77:00:01"))
        self.assertEqual(found["options"]["93 client-arch"], 7)
        self.assertEqual(found["options"]["97 client-uuid"]["uuid"], "33221100-5544-7766-8899-aabbccddeeff")
        self.assertEqual(bytes.fromhex(found["hex"]), message)

    def test_torn_options_do_no_harm(self):
        self.assertIsNotNone(dhcp.decode(dhcp_message(packed(60, b"PXEClient"))[:-3]))
        self.assertIsNone(dhcp.decode(b"short"))


class TftpTest(unittest.TestCase):
    REQUEST = b"\x00\x01ipxe.efi\0octet\0blksize\x001468\0tsize\x000\0"

    def test_a_transfer_with_a_packet_sent_again(self):
        (found,) = seen(
            udp(CLIENT, 2000, SERVER, 69, self.REQUEST),
            udp(SERVER, 4000, CLIENT, 2000, b"\x00\x06blksize\x001468\0tsize\x001500\0"),
            udp(SERVER, 4000, CLIENT, 2000, b"\x00\x03\x00\x01" + bytes(1468)),
            udp(SERVER, 4000, CLIENT, 2000, b"\x00\x03\x00\x01" + bytes(1468)),
            udp(SERVER, 4000, CLIENT, 2000, b"\x00\x03\x00\x02" + bytes(32)),
        )["tftp"]
        self.assertEqual(found["granted"], {"blksize": "1468", "tsize": "1500"})
        self.assertEqual((found["bytes"], found["resent"], found["error"]), (1500, 1, None))
        self.assertEqual(found["sha256"], hashlib.sha256(bytes(1500)).hexdigest())

    def test_without_a_packet_there_is_no_digest(self):
        (found,) = seen(
            udp(CLIENT, 2000, SERVER, 69, self.REQUEST),
            udp(SERVER, 4000, CLIENT, 2000, b"\x00\x03\x00\x01" + bytes(512)),
            udp(SERVER, 4000, CLIENT, 2000, b"\x00\x03\x00\x03" + bytes(12)),
        )["tftp"]
        self.assertIsNone(found["sha256"])

    def test_errors_of_both_sides(self):
        client, server = seen(
            udp(CLIENT, 2000, SERVER, 69, self.REQUEST),
            udp(CLIENT, 2000, SERVER, 4000, b"\x00\x05\x00\x08aborted\0"),
            udp(CLIENT, 2001, SERVER, 69, self.REQUEST),
            udp(SERVER, 4001, CLIENT, 2001, b"\x00\x05\x00\x01not found\0"),
        )["tftp"]
        self.assertEqual((client["error"], server["error"]), ("client: aborted", "server: not found"))


class HttpTest(unittest.TestCase):
    @staticmethod
    def exchange(requests: bytes, *answers: tuple) -> list:
        """Answers are (offset in the answer stream, bytes)."""
        return seen(
            tcp(CLIENT, 3000, SERVER, 80, 999, b"", flags=0x02),
            tcp(SERVER, 80, CLIENT, 3000, 4999, b"", flags=0x12),
            tcp(CLIENT, 3000, SERVER, 80, 1000, requests),
            *(tcp(SERVER, 80, CLIENT, 3000, 5000 + offset, data) for offset, data in answers),
        )["http"]

    def test_two_requests_on_a_connection(self):
        header = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
        head, get = self.exchange(
            b"HEAD /a HTTP/1.1\r\nHost: x\r\n\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n",
            (0, header + header),
            (2 * len(header) + 2, b"llo"),
            (2 * len(header), b"he"),
        )
        self.assertEqual((head["method"], head["status"], head["sha256"]), ("HEAD", 200, None))
        self.assertEqual((get["method"], get["status"], get["bytes"]), ("GET", 200, 5))
        self.assertEqual(get["sha256"], hashlib.sha256(b"hello").hexdigest())

    def test_without_a_packet_there_is_no_digest(self):
        (get,) = self.exchange(
            b"GET /g HTTP/1.1\r\n\r\n",
            (0, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"),
            (47, b"ghi"),
        )
        self.assertEqual((get["bytes"], get["sha256"]), (3, None))

    def test_another_connection_from_the_same_port(self):
        def connection(asked_from: int, answered_from: int, path: bytes, body: bytes) -> list:
            answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
            return [
                tcp(CLIENT, 3000, SERVER, 80, asked_from, b"", flags=0x02),
                tcp(SERVER, 80, CLIENT, 3000, answered_from, b"", flags=0x12),
                tcp(CLIENT, 3000, SERVER, 80, asked_from + 1, b"GET %s HTTP/1.1\r\n\r\n" % path),
                tcp(SERVER, 80, CLIENT, 3000, answered_from + 1, answer),
            ]

        first, second = seen(*connection(900, 5000, b"/a", b"one"), *connection(700, 9000, b"/b", b"three"))["http"]
        self.assertEqual([first["target"], second["target"]], ["/a", "/b"])
        self.assertEqual(second["sha256"], hashlib.sha256(b"three").hexdigest())


class CableTest(unittest.TestCase):
    def test_a_plain_rom_does_not_say_that_it_is_ipxe(self):
        message = dhcp_message(
            packed(53, b"\x01"), packed(77, b"iPXE"), packed(93, b"\x00\x00"), packed(175, bytes(9))
        )
        rom = cable.PlainRom()
        frame = rom.pass_on(udp("0.0.0.0", 68, "255.255.255.255", 67, message))
        self.assertEqual([code for code, _ in dhcp.split_options(frame[42 + 240 :])], [53, 93])
        # With its first file it is somebody else who speaks.
        rom.pass_on(udp(CLIENT, 2000, SERVER, 69, TftpTest.REQUEST))
        frame = udp("0.0.0.0", 68, "255.255.255.255", 67, message)
        self.assertEqual(rom.pass_on(frame), frame)


class ConsoleTest(unittest.TestCase):
    def test_follows_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "console.log"
            console = Console(path)
            console.refresh()
            self.assertEqual(console.text, "")
            with open(path, "wb") as file:
                file.write(b"\x1b[2J\x1b[01;01Hfirst\r\nNODE mark")
                file.flush()
                console.refresh()
                self.assertIsNotNone(console.when(r"^first"))
                self.assertIsNone(console.when(r"^NODE marker "))
                file.write(b"er arch=x\r\n")
                file.flush()
                console.refresh()
            self.assertIsNotNone(console.when(r"^NODE marker "))
            self.assertEqual(console.find(r"^NODE marker (.*)$"), "arch=x")


class PulseTest(unittest.TestCase):
    INTERFACES = (
        "Inter-|   Receive                 |  Transmit\n"
        " face |bytes    packets errs drop |bytes    packets errs drop\n"
        "    lo:     900       9    0    0     900       9    0    0\n"
        f"   {TAP}:    {{}}      {{}}    0    0    7000      70    0    0\n"
    )

    def test_counts_what_the_machine_sent(self):
        self.assertEqual(sent_packets(self.INTERFACES.format(4200, 42), TAP), 42)
        self.assertEqual(sent_packets(self.INTERFACES.format(4200, 42), "other"), 0)

    def test_is_as_long_as_neither_console_nor_wire_moves(self):
        now = 0.0
        with tempfile.TemporaryDirectory() as folder:
            console, interfaces = Path(folder) / "console.log", Path(folder) / "dev"
            interfaces.write_text(self.INTERFACES.format(0, 0))
            pulse = Pulse(console, interfaces, lambda: now)
            self.assertEqual(pulse.silence(), 0)
            now = 50.0
            self.assertEqual(pulse.silence(), 50)
            console.write_text("BdsDxe")
            self.assertEqual(pulse.silence(), 0)
            now = 80.0
            self.assertEqual(pulse.silence(), 30)
            interfaces.write_text(self.INTERFACES.format(60, 1))
            self.assertEqual(pulse.silence(), 0)


class DiskTest(unittest.TestCase):
    def test_is_bootable_both_ways(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "disk.img"
            disk.write_disk(path)
            image = path.read_bytes()
        self.assertEqual(image[510:512], b"\x55\xaa")
        # The jump lands on the program, behind the file system's parameters.
        self.assertTrue(image[2 + image[1] :].startswith(disk.BIOS_PROGRAM))
        self.assertIn(b"BOOTX64 EFI", image)


if __name__ == "__main__":
    unittest.main()
