"""One run: a network, a server, a machine, and the verdict."""

import argparse
import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Optional

from . import capture, network, options, report, site
from .console import Console
from .disk import write_disk
from .isolate import run_isolated
from .machines import FIRMWARE, Machine
from .monitor import unplug_and_start
from .processes import BootFailed, Processes, RigError, in_namespace
from .pulse import Pulse

RIG = Path(__file__).resolve().parent.parent
TOOLS = ("ip", "tcpdump", "dnsmasq", "sysctl")
PHONE_HOME_PORT = 8100

MARKER = r"^NODE marker "
PHONED_HOME = r"^NODE phone-home ok "

CONSOLE_STAGES = {
    "kernel started": r"Linux version ",
    "marker": MARKER,
    "phone-home": PHONED_HOME,
}

# When one of these appears on the console, nothing more will come of this boot.
HOPELESS = (
    r"^NODE phone-home (failed|none)",
    r"^NODE network none",
    r"Kernel panic - not syncing",
    r"No bootable device",
    r"^UEFI Interactive Shell",
    r"BdsDxe: No bootable option",
    r"BdsDxe: starting Boot\w+ \"UiApp\"",  # its setup screen
)

# How long a machine that phoned home may take to switch itself off.
POWER_OFF_PATIENCE = 30.0


class Run:
    def __init__(self, chosen: argparse.Namespace, work: Path) -> None:
        self.chosen = chosen
        self.work = work
        self.firmware = FIRMWARE[chosen.firmware]
        self.processes = Processes(work)
        self.console = Console(work / "console.log")
        self.server_log = Console(self.processes.log_of("server"))
        self.awaited = list(chosen.on)
        self.deadline = time.monotonic() + chosen.timeout
        self.stages: dict = {}
        self.outcome = ""

    # --- the cast -------------------------------------------------------------

    @property
    def needs_cable(self) -> bool:
        return self.firmware.plain or self.chosen.loss > 0 or self.chosen.rate > 0

    def start_capture(self) -> None:
        path = self.work / "boot.pcap"
        self.processes.start(
            "tcpdump",
            ["tcpdump", "-i", network.TAP, "-n", "-U", "--immediate-mode", "-B", str(capture.BUFFER_KIB),
             "-s", str(capture.SNAPLEN), "-Z", "root", "-w", str(path)],
        )  # fmt: skip
        self.wait_until("the packet capture", lambda: path.exists() and path.stat().st_size >= 24)

    def start_site(self) -> None:
        chosen = self.chosen
        self.processes.start(
            "site", site.site_command(self.work, chosen.site_dhcp, chosen.site_arg), netns=network.SITE
        )
        if chosen.site_cmd:
            self.processes.start("site-dhcp", chosen.site_cmd, netns=network.SITE)
        if chosen.relay:
            has_dhcp = chosen.site_dhcp or bool(chosen.site_cmd)
            self.processes.start("relay", site.relay_command(self.work, has_dhcp), netns=network.RELAY)
        self.processes.start(
            "phone-home",
            [sys.executable, "-B", "-m", "netboot.phone_home", network.SITE_ADDRESS,
             str(PHONE_HOME_PORT), str(self.work / "phone-home.jsonl")],
            netns=network.SITE,
            cwd=RIG,
        )  # fmt: skip

    def start_server(self) -> None:
        self.processes.start("server", self.chosen.server, netns=network.SERVER, cwd=Path.cwd())
        if self.chosen.ready:
            self.wait_until("the server's --ready command", lambda: self.run_beside(self.chosen.ready))

    def run_beside(self, command: str) -> bool:
        try:
            answer = subprocess.run(
                [*in_namespace(network.SERVER), "sh", "-c", command], timeout=60,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return False
        return answer.returncode == 0

    def start_cable(self) -> str:
        """The cable's process, and the netdev with which the machine is plugged into it."""
        # These ports are in a network namespace that only this run is in.
        local, remote = 10001, 10002
        command = [sys.executable, "-B", "-m", "netboot.cable", network.TAP, str(local), str(remote)]
        if self.firmware.plain:
            command.append("--plain")
        command += ["--loss", str(self.chosen.loss), "--rate", str(self.chosen.rate)]
        self.processes.start("cable", command, cwd=RIG)
        log = self.processes.log_of("cable")
        self.wait_until("the cable", lambda: b"ready" in log.read_bytes())
        network.attach(self.chosen.relay)
        return f"socket,udp=127.0.0.1:{local},localaddr=127.0.0.1:{remote}"

    def start_machine(self, netdev: Optional[str]) -> None:
        disk = None
        if self.chosen.disk:
            disk = self.work / "disk.img"
            write_disk(disk)
        machine = Machine(
            firmware=self.firmware,
            mac=self.chosen.mac,
            uuid=self.chosen.uuid,
            memory=self.chosen.memory,
            work=self.work,
            serial=self.console.path,
            reboots=self.chosen.reboots,
            steady_clock=self.chosen.steady_clock,
            disk=disk,
            idle_mac=self.chosen.idle_card,
            extra=self.chosen.qemu_arg,
        )
        self.processes.start("machine", machine.command(netdev) if netdev else machine.command())
        if self.chosen.idle_card:
            self.wait_until("the machine's monitor", machine.monitor.exists)
            unplug_and_start(machine.monitor, "card-idle")
        self.stages["machine on"] = time.time()

    # --- the course of it -------------------------------------------------------

    def wait_until(self, what: str, condition) -> None:
        while not condition():
            for name in self.processes.started:
                status = self.processes.exit_status(name)
                if status is not None:
                    raise BootFailed(f"{name} ended with status {status} while waiting for {what}")
            if time.monotonic() > self.deadline:
                raise BootFailed(f"timeout while waiting for {what}")
            time.sleep(0.1)

    def react(self) -> None:
        """Runs the --on commands whose time has come."""
        for awaited in list(self.awaited):
            pattern, command = awaited
            if self.console.when(pattern) or self.server_log.when(pattern):
                self.awaited.remove(awaited)
                self.stages[f"on {pattern}"] = time.time()
                if not self.run_beside(command):
                    raise BootFailed(f"{command!r} failed, which was to be run on {pattern!r}")

    def watch(self) -> str:
        """Follows the boot to its end; returns "" or what went wrong."""
        expected = self.chosen.expect or [MARKER, PHONED_HOME]
        met_at: Optional[float] = None
        pulse = Pulse(self.console.path)
        while True:
            off = self.processes.exit_status("machine") is not None
            self.console.refresh()
            self.server_log.refresh()
            self.react()
            for stage, pattern in CONSOLE_STAGES.items():
                if moment := self.console.when(pattern):
                    self.stages[stage] = moment
            if off:
                self.stages["machine off"] = time.time()
            if all([self.console.when(pattern) for pattern in expected]):
                met_at = met_at or time.monotonic()
                self.stages.setdefault("all seen", time.time())
                patience = 0.5 if self.chosen.expect else POWER_OFF_PATIENCE
                if off or time.monotonic() > met_at + patience:
                    return ""
            elif off:
                return f"the machine went off (QEMU exit status {self.processes.exit_status('machine')})"
            elif time.monotonic() > self.deadline:
                return f"timeout after {self.chosen.timeout:g} s"
            elif pulse.silence() > self.chosen.patience:
                return f"the machine was silent for {self.chosen.patience:g} s"
            else:
                for pattern in HOPELESS:
                    if self.console.when(pattern):
                        return f"console shows {pattern.lstrip('^')!r}"
                status = self.processes.exit_status("server")
                if status is not None:
                    return f"the server command ended with status {status}"
            time.sleep(0.1)

    def play(self) -> None:
        network.build(self.chosen.relay, tap=not self.needs_cable)
        netdev = self.start_cable() if self.needs_cable else None
        self.start_capture()
        self.start_site()
        self.start_server()
        self.start_machine(netdev)
        self.outcome = self.watch()
        time.sleep(0.2)  # for the last packets to reach the capture

    def note_stages(self, seen: dict) -> None:
        for kind, stage in (
            ("dhcp", "first DHCP packet"),
            ("tftp", "first TFTP request"),
            ("http", "first HTTP request"),
        ):
            if seen[kind]:
                self.stages[stage] = min(event["time"] for event in seen[kind])

    def phone_calls(self) -> list:
        path = self.work / "phone-home.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def __call__(self) -> int:
        trouble = ""
        try:
            self.play()
        except BootFailed as error:
            self.outcome = str(error)
        except RigError as error:
            self.outcome = trouble = str(error)
        finally:
            self.processes.stop_all()
        self.console.refresh()
        seen = capture.read(self.work / "boot.pcap")
        self.note_stages(seen)
        result = report.build(
            self.chosen,
            self.stages,
            self.outcome,
            self.console,
            {**seen, "phone_home": self.phone_calls()},
            capture.lost_packets(self.processes.log_of("tcpdump")),
        )
        (self.work / "report.json").write_text(json.dumps(result, indent=1) + "\n")
        print(report.summary(result))
        return 2 if trouble else 1 if self.outcome else 0


def main() -> int:
    chosen = options.parse(sys.argv[1:])
    for tool in TOOLS:
        if not shutil.which(tool):
            print(f"boot: {tool} is not installed (see install-deps)", file=sys.stderr)
            return 2
    work = Path(chosen.out).resolve()
    work.mkdir(parents=True, exist_ok=True)
    return run_isolated(Run(chosen, work))
