#!/usr/bin/env python3
"""Starts a command with UDP sockets as a service manager would hand them over: socket-activation.py eth0:67 … -- COMMAND.
`eth0:67` is one for DHCP, bound to its interface; `tftp@69` is one of that name, open on every address."""
import os
import socket
import sys

split = sys.argv.index("--")
wanted, command = sys.argv[1:split], sys.argv[split + 1 :]
names = []
for index, text in enumerate(wanted):
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    if "@" in text:
        name, port = text.split("@")
    else:
        device, port = text.split(":")
        name = "dhcp-" + device
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    opened.bind(("0.0.0.0", int(port)))
    os.dup2(opened.fileno(), 100 + index, inheritable=True)
    opened.close()
    names.append(name)
for index in range(len(wanted)):
    os.dup2(100 + index, 3 + index, inheritable=True)
    os.close(100 + index)
os.environ.update(LISTEN_FDS=str(len(wanted)), LISTEN_FDNAMES=":".join(names), LISTEN_PID=str(os.getpid()))
os.execvp(command[0], command)
