"""Reserves ports of this machine for one test, also when another user or run of the suite is active."""

import random
import socket

# These ports are below those that Linux gives to connections (net.ipv4.ip_local_port_range begins at 32768), so that no
# process gets one by chance.
_PORTS = range(12000, 32000)
_reserved = []  # the sockets that reserve them until this process ends


def reserve():
    """Returns a port on which nothing listens, and which no other test reserves while this process lives. A bound and
    closed socket reserves nothing. The name of an abstract Unix socket does: it exists once per machine, for all
    users, and disappears with its process.

    A socket that is bound and closed again keeps its port for nobody. What does is the name of an abstract Unix socket: it
    exists once on a machine, whoever asks, and goes away with its process.
    """
    for port in random.sample(_PORTS, 200):
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            claim.bind(f"\0cgx-test-port-{port}")
            for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "0.0.0.0")):
                with socket.socket(family, socket.SOCK_STREAM) as trial:
                    trial.bind((address, port))
        except OSError:
            claim.close()
            continue
        _reserved.append(claim)
        return port
    raise OSError(f"expected a free port between {_PORTS.start} and {_PORTS.stop}, found none in 200")
