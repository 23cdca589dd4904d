"""Speaks with QEMU over its monitor (QMP): pulls a cable, lets the machine start."""

import json
import socket
from pathlib import Path


def unplug_and_start(path: Path, card: str) -> None:
    with socket.socket(socket.AF_UNIX) as monitor:
        monitor.connect(str(path))
        lines = monitor.makefile("rw")
        lines.readline()  # its greeting
        for command, arguments in (
            ("qmp_capabilities", {}),
            ("set_link", {"name": card, "up": False}),
            ("cont", {}),
        ):
            lines.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
            lines.flush()
            while True:  # events may come in between
                answer = json.loads(lines.readline())
                if "error" in answer:
                    raise OSError(f"{command}: {answer['error']['desc']}")
                if "return" in answer:
                    break
