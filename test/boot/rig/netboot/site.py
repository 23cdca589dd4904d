"""The site: its gateway, perhaps a DHCP server that knows nothing of booting, perhaps a relay.

The gateway announces an IPv6 prefix, as a router would. A network without such
announcements is slow to boot on: iPXE waits a quarter of a minute for one.
"""

from pathlib import Path
from typing import Sequence

from .network import FAR_ADDRESS, FAR_POOL, POOL, SERVER_ADDRESS, SITE_ADDRESS


def _dnsmasq(name: str, work: Path, interfaces: Sequence[str], options: Sequence[str]) -> list:
    return [
        "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--port=0", "--no-ping",
        "--bind-interfaces", "--user=root", "--pid-file=", "--log-dhcp", "--log-facility=-",
        f"--dhcp-leasefile={work / name}.leases",
        *(f"--interface={interface}" for interface in interfaces),
        *options,
    ]  # fmt: skip


def site_command(work: Path, dhcp: bool, extra: Sequence[str]) -> list:
    """The site's dnsmasq. With `dhcp`, it gives out addresses."""
    announced = ["--enable-ra", "--dhcp-range=2001:db8:77::,ra-only,64,1h"]
    given = [
        f"--dhcp-range={','.join(POOL)},255.255.255.0,1h",
        f"--dhcp-range=set:far,{','.join(FAR_POOL)},255.255.255.0,1h",
        f"--dhcp-option=option:router,{SITE_ADDRESS}",
        f"--dhcp-option=tag:far,option:router,{FAR_ADDRESS}",
    ]
    return _dnsmasq("site", work, ["eth0"], [*announced, *(given if dhcp else []), *extra])


def relay_command(work: Path, dhcp: bool) -> list:
    """A router that hands DHCP on: to the server under test, and to the site's DHCP server if there is one."""
    servers = [SERVER_ADDRESS, *([SITE_ADDRESS] if dhcp else [])]
    options = [f"--dhcp-relay={FAR_ADDRESS},{server}" for server in servers]
    announced = ["--enable-ra", "--dhcp-range=2001:db8:78::,ra-only,64,1h"]
    return _dnsmasq("relay", work, ["eth0", "eth1"], [*options, *announced])
