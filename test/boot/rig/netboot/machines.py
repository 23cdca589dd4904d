"""The emulated machines: which firmware each has, and how QEMU is told so."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

from .network import TAP
from .processes import RigError

OVMF = Path("/usr/share/OVMF")
AAVMF = Path("/usr/share/AAVMF")


@dataclass(frozen=True)
class Firmware:
    name: str
    summary: str
    arch: str = "amd64"
    # Images of a UEFI firmware's code and variables; none for BIOS.
    flash: Optional[tuple] = None
    # The network card's boot ROM: None for QEMU's own, which is iPXE; "" for no
    # ROM, which leaves the card to the firmware's driver and network stack.
    rom: Optional[str] = None
    # Network support that the firmware is told to leave out, so that the entry
    # wanted is the first in its boot order.
    without: tuple = ()
    # Take what gives iPXE away out of the boot ROM's DHCP packets (see cable.py).
    plain: bool = False


X64 = (OVMF / "OVMF_CODE_4M.fd", OVMF / "OVMF_VARS_4M.fd")
# The same with Secure Boot on, and the usual vendor's keys enrolled.
X64_SECURE = (OVMF / "OVMF_CODE_4M.ms.fd", OVMF / "OVMF_VARS_4M.ms.fd")
ARM64 = (AAVMF / "AAVMF_CODE.fd", AAVMF / "AAVMF_VARS.fd")

PXE4 = ("IPv6",)
HTTP4 = ("IPv4PXE", "IPv6")
# The arm64 firmware can leave out PXE only, not all of an address family.
ARM64_PXE4 = ("IPv6PXE",)
ARM64_HTTP4 = ("IPv4PXE", "IPv6PXE")


def _uefi(name: str, summary: str, without: tuple, flash: tuple = X64) -> Firmware:
    """A UEFI machine whose own network stack boots it, with no boot ROM in the way."""
    arch = "arm64" if flash == ARM64 else "amd64"
    return Firmware(name, summary, arch=arch, flash=flash, rom="", without=without)


FIRMWARE = {
    firmware.name: firmware
    for firmware in (
        Firmware("bios-pxe", "BIOS; the boot ROM is iPXE and says so"),
        Firmware("bios-pxe-plain", "BIOS; a boot ROM that does not say it is iPXE", plain=True),
        Firmware("uefi-ipxe", "UEFI; the boot ROM is iPXE and says so", flash=X64, without=("IPv4", "IPv6")),
        _uefi("uefi-pxe", "UEFI; PXE over IPv4", PXE4),
        _uefi("uefi-http", "UEFI; HTTP Boot over IPv4", HTTP4),
        _uefi("uefi-pxe-secure", "UEFI; PXE over IPv4, Secure Boot on", PXE4, X64_SECURE),
        _uefi("uefi-http-secure", "UEFI; HTTP Boot over IPv4, Secure Boot on", HTTP4, X64_SECURE),
        _uefi("arm64-uefi-pxe", "arm64 UEFI; PXE over IPv4", ARM64_PXE4, ARM64),
        _uefi("arm64-uefi-http", "arm64 UEFI; HTTP Boot over IPv4", ARM64_HTTP4, ARM64),
    )
}

TAP_NETDEV = f"tap,ifname={TAP},script=no,downscript=no"


@dataclass
class Machine:
    firmware: Firmware
    mac: str
    uuid: str
    memory: int
    work: Path
    serial: Path
    reboots: bool = False
    # By the instructions that it ran, not by the clock of a host that lets it wait.
    steady_clock: bool = False
    disk: Optional[Path] = None
    # A first card whose cable is not plugged in; it has this MAC.
    idle_mac: Optional[str] = None
    extra: list = field(default_factory=list)

    @property
    def monitor(self) -> Path:
        return self.work / "monitor.sock"

    def command(self, netdev: str = TAP_NETDEV) -> list:
        """The QEMU command line; makes the files that it names. An idle card needs `unplug` before it runs."""
        emulator = {"amd64": "qemu-system-x86_64", "arm64": "qemu-system-aarch64"}
        program = shutil.which(emulator[self.firmware.arch])
        if not program:
            raise RigError(f"{emulator[self.firmware.arch]} is not installed (see install-deps)")
        return [
            program,
            *self._board(),
            *("-m", str(self.memory), "-smp", "1", "-uuid", self.uuid),
            *("-nodefaults", "-nographic", "-monitor", "none"),
            *("-serial", f"file:{self.serial}"),
            *self._flash(),
            *self._idle_card(),
            *("-netdev", f"{netdev},id=wire"),
            *("-device", self._card("wire", self.mac, 2 if self.idle_mac else 1)),
            *("-device", "virtio-rng-pci"),
            *self._disk(),
            *([] if self.reboots else ["-no-reboot"]),
            *(["-icount", "shift=auto"] if self.steady_clock else []),
            *self.extra,
        ]

    def _card(self, netdev: str, mac: str, order: int) -> str:
        # No packets longer than the wire's, so that the capture has all of each.
        card = f"virtio-net-pci,netdev={netdev},mac={mac},bootindex={order},id=card-{netdev}"
        card += ",guest_tso4=off,guest_tso6=off,guest_ufo=off"
        return card if self.firmware.rom is None else f"{card},romfile={self.firmware.rom}"

    def _idle_card(self) -> list:
        if not self.idle_mac:
            return []
        return [
            *("-S", "-qmp", f"unix:{self.monitor},server=on,wait=off"),
            *("-netdev", "hubport,id=idle,hubid=1", "-device", self._card("idle", self.idle_mac, 1)),
        ]

    def _board(self) -> list:
        if self.firmware.arch == "arm64":
            return ["-machine", "virt,accel=tcg", "-cpu", "cortex-a57"]
        if not self.firmware.flash:
            return ["-machine", "pc,accel=tcg"]
        # With Secure Boot, only firmware code may write the variables.
        return [
            *("-machine", "q35,smm=on,accel=tcg"),
            *("-global", "driver=cfi.pflash01,property=secure,value=on"),
        ]

    def _flash(self) -> list:
        if not self.firmware.flash:
            return []
        code, variables = self.firmware.flash
        for image in (code, variables):
            if not image.exists():
                raise RigError(f"{image} is missing (see install-deps)")
        own = self.work / "firmware-variables"
        shutil.copyfile(variables, own)
        own.chmod(0o600)
        options = [
            *("-drive", f"if=pflash,format=raw,unit=0,readonly=on,file={code}"),
            *("-drive", f"if=pflash,format=raw,unit=1,file={own}"),
        ]
        for network in self.firmware.without:
            options += ["-fw_cfg", f"name=opt/org.tianocore/{network}Support,string=n"]
        return options

    def _disk(self) -> list:
        if not self.disk:
            return []
        return [
            *("-drive", f"if=none,id=disk,format=raw,file={self.disk}"),
            *("-device", "virtio-blk-pci,drive=disk,bootindex=3"),
        ]
