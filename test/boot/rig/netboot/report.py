"""Says what happened in a run, for people and as JSON."""

import argparse
from collections import Counter

from .console import Console


def build(
    chosen: argparse.Namespace, stages: dict, problem: str, console: Console, seen: dict, lost: int
) -> dict:
    """The report; every time in it is in seconds since the machine was switched on."""
    start = stages.get("machine on", min(stages.values(), default=0.0))

    def since(moment):
        return None if moment is None else round(moment - start, 3)

    def relative(events: list) -> list:
        return [
            {key: since(value) if key in ("time", "end") else value for key, value in event.items()}
            for event in events
        ]

    return {
        "ok": not problem,
        "problem": problem or None,
        "firmware": chosen.firmware,
        "mac": chosen.mac,
        "uuid": chosen.uuid,
        "stages": {name: since(moment) for name, moment in sorted(stages.items(), key=lambda item: item[1])},
        "node": {
            "marker": console.find(r"^NODE marker (.*)$"),
            "cmdline": console.find(r"^NODE cmdline (.*)$"),
            "network": console.find(r"^NODE network (.*)$"),
        },
        **{kind: relative(events) for kind, events in seen.items()},
        "capture_lost": lost,
    }


def _dhcp_line(message: dict) -> str:
    options = message["options"]
    notes = [
        f"{key.split()[1]}={options[key]}"
        for key in ("60 vendor-class", "77 user-class", "93 client-arch", "67 boot-file", "43 vendor")
        if options.get(key)
    ]
    notes += [f"{key}={message[key]}" for key in ("yiaddr", "siaddr", "giaddr", "file") if message.get(key)]
    port = "" if message["to"].split()[-1] in ("67", "68") else f" to {message['to']}"
    return f"{message['time']:7.1f}  {message['type']:<8} from {message['from'].split()[0]}{port} {' '.join(notes)}"


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count} B"


def _tftp_line(transfer: dict) -> str:
    asked = " ".join(f"{name}={value}" for name, value in transfer["asked"].items()) or "no options"
    if transfer["granted"] is not None:
        asked += " -> " + " ".join(f"{name}={value}" for name, value in transfer["granted"].items())
    ending = f", {transfer['error']}" if transfer["error"] else ""
    if transfer["resent"]:
        ending += f", {transfer['resent']} packets sent again"
    took = transfer["end"] - transfer["time"]
    size = _size(transfer["bytes"])
    return f"{transfer['time']:7.1f}  {transfer['file']} ({asked}) {size} in {took:.1f} s{ending}"


def _http_line(exchange: dict) -> str:
    took = "" if exchange["end"] is None else f" in {exchange['end'] - exchange['time']:.1f} s"
    size = _size(exchange["bytes"])
    return f"{exchange['time']:7.1f}  {exchange['method']} {exchange['target']} -> {exchange['status']} {size}{took}"


def _dhcp_count(messages: list) -> str:
    counts = Counter((message["from"].split()[0], message["type"]) for message in messages)
    return ", ".join(f"{count} {kind} from {origin}" for (origin, kind), count in counts.items())


def summary(result: dict) -> str:
    verdict = "booted" if result["ok"] else f"FAILED: {result['problem']}"
    lines = [f"{result['firmware']}: {verdict}"]
    lines += [f"{moment:7.1f}  {name}" for name, moment in result["stages"].items()]
    if result["dhcp"]:
        lines += ["DHCP " + _dhcp_count(result["dhcp"])]
        if not result["ok"]:
            lines += [_dhcp_line(message) for message in result["dhcp"]]
    if result["tftp"]:
        lines += ["TFTP", *map(_tftp_line, result["tftp"])]
    if result["http"]:
        lines += ["HTTP", *map(_http_line, result["http"])]
    if result["capture_lost"]:
        lines.append(f"{result['capture_lost']} packets are missing from the capture")
    return "\n".join(lines)
