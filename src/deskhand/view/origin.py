"""Who may talk to the page's server: pages that it served itself, not any page that happens to be open in the operator's browser.

A browser lets every web site open a connection to 127.0.0.1, and says in ``Origin`` which site it was.
"""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit


def is_own(origin: str | None, host: str | None) -> bool:
    """Whether a connection with these headers comes from a page of this server, or from a program that is no browser (no ``Origin``).

    The name must be an address, ``localhost`` or this machine's own: any other could be a site's name that was made to point here (DNS rebinding).
    """
    if origin is None:
        return True
    said = urlsplit(origin)
    name = said.hostname or ""
    return bool(host) and said.netloc.lower() == str(host).lower() and (_is_address(name) or name in _own_names())


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _own_names() -> set[str]:
    machine = socket.gethostname().lower()
    return {"localhost", machine, f"{machine}.local"}
