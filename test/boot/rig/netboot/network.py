"""The network of a run: one Ethernet segment with a server and a site on it.

    machine --- tap --+
                      |        the machine's emulator runs beside the bridge
    server (netns) ---+ bridge
                      |
    site (netns) -----+        the site's own DHCP server, and its gateway

With a relay, the machine is on a segment of its own:

    machine --- tap --- far bridge --- relay (netns) --- bridge
"""

from .processes import run

BRIDGE = "bridge"
FAR_BRIDGE = "far-bridge"
TAP = "tap"
SERVER = "server"
SITE = "site"
RELAY = "relay"

# All of it is private to a run, so that the addresses can be the same in each.
SERVER_ADDRESS = "192.0.2.10"
SITE_ADDRESS = "192.0.2.1"
POOL = ("192.0.2.128", "192.0.2.254")
RELAY_ADDRESS = "192.0.2.2"
FAR_ADDRESS = "203.0.113.1"
FAR_NETWORK = "203.0.113.0/24"
FAR_POOL = ("203.0.113.128", "203.0.113.254")


def _plug(netns: str, interface: str, bridge: str, *addresses: str) -> None:
    """A cable from a namespace to a bridge."""
    port = f"{netns}-{interface}"
    run("ip", "link", "add", port, "type", "veth", "peer", "name", interface, "netns", netns)
    run("ip", "link", "set", port, "master", bridge, "up")
    for sysctl in ("net.ipv6.conf.all.accept_dad=0", f"net.ipv6.conf.{interface}.accept_ra=0"):
        run("sysctl", "-q", "-w", sysctl, netns=netns)
    run("ip", "link", "set", "lo", "up", netns=netns)
    run("ip", "link", "set", interface, "up", netns=netns)
    for address in addresses:
        run("ip", "addr", "add", address, "dev", interface, "nodad", netns=netns)


def _bridge(name: str) -> None:
    run("ip", "link", "add", name, "type", "bridge", "stp_state", "0", "mcast_snooping", "0")
    run("ip", "link", "set", name, "up")


def build(relay: bool, tap: bool) -> None:
    """Makes it in the network namespace that this process is in; `tap`: somebody else makes that."""
    run("ip", "link", "set", "lo", "up")
    _bridge(BRIDGE)
    for netns, address in ((SERVER, SERVER_ADDRESS), (SITE, SITE_ADDRESS)):
        run("ip", "netns", "add", netns)
        _plug(netns, "eth0", BRIDGE, f"{address}/24", f"2001:db8:77::{address.split('.')[-1]}/64")
    run("ip", "route", "add", "default", "via", SITE_ADDRESS, netns=SERVER)
    if relay:
        _bridge(FAR_BRIDGE)
        run("ip", "netns", "add", RELAY)
        _plug(RELAY, "eth0", BRIDGE, f"{RELAY_ADDRESS}/24")
        _plug(RELAY, "eth1", FAR_BRIDGE, f"{FAR_ADDRESS}/24", "2001:db8:78::1/64")
        run("sysctl", "-q", "-w", "net.ipv4.ip_forward=1", netns=RELAY)
        for netns in (SERVER, SITE):
            run("ip", "route", "add", FAR_NETWORK, "via", RELAY_ADDRESS, netns=netns)
    if tap:
        run("ip", "tuntap", "add", "dev", TAP, "mode", "tap")
        attach(relay)


def attach(relay: bool) -> None:
    run("ip", "link", "set", TAP, "master", FAR_BRIDGE if relay else BRIDGE, "up")
