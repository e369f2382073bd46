"""A process that has imported the tools and does nothing but fork workers: a new one is there within milliseconds.

``python -m deskhand.etp.isolation.zygote FD MODULE…`` reads JSON requests from the socket FD, one a datagram: ``{"fork": [access…]}`` with two file
descriptors (the worker's socket, its output), answered by ``{"pid"}``; ``{"reap": pid}``, answered by ``{"status"}`` of a worker that has ended.
When the other side goes away, all workers are killed.
"""

from __future__ import annotations

import ctypes
import gc
import json
import logging
import os
import resource
import signal
import socket
import sys
from collections.abc import Sequence
from importlib import import_module
from multiprocessing.connection import Connection

from deskhand.etp.isolation.landlock import library_folders, restrict_reading
from deskhand.etp.isolation.seccomp import restrict_calls
from deskhand.etp.isolation.worker import Worker

log = logging.getLogger(__name__)

_PR_SET_PDEATHSIG = 1
MAX_FILES = 64
READY = b"ready"


def main(arguments: Sequence[str]) -> int:
    """Entry point; see the module."""
    control = socket.socket(fileno=int(arguments[0]))
    for module in arguments[1:]:
        try:
            import_module(module)
        except Exception as error:  # a package of others; the call that needs it will say so
            log.warning("%s cannot be imported: %s: %s", module, type(error).__name__, error)
    gc.collect()
    gc.freeze()
    try:
        control.send(READY)
    except (BrokenPipeError, ConnectionResetError):  # the session was closed while the tools were imported
        return 0
    children: set[int] = set()
    try:
        while True:
            message, descriptors, _, _ = socket.recv_fds(control, 65536, 2)
            if not message:
                return 0
            request = json.loads(message)
            if "fork" in request:
                pid = _fork(control, descriptors, request["fork"])
                children.add(pid)
                control.send(json.dumps({"pid": pid}).encode())
            else:
                _, status = os.waitpid(request["reap"], 0)
                children.discard(request["reap"])
                control.send(json.dumps({"status": os.waitstatus_to_exitcode(status)}).encode())
    finally:
        for pid in children:
            os.kill(pid, signal.SIGKILL)


def _fork(control: socket.socket, descriptors: Sequence[int], access: Sequence[str]) -> int:
    parent = os.getpid()
    pid = os.fork()
    if pid:
        for descriptor in descriptors:
            os.close(descriptor)
        return pid
    code = 1
    try:
        control.close()
        _become_worker(parent, descriptors[1], access)
        Worker(Connection(descriptors[0])).serve()
        code = 0
    except BaseException:  # nothing of the zygote may run on in its child
        log.exception("worker %d ended", os.getpid())
    finally:
        os._exit(code)


def _become_worker(parent: int, output: int, access: Sequence[str]) -> None:
    """Cut off from the terminal and from all that ``access`` does not name; dies with its parent."""
    os.setsid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL))
    if os.getppid() != parent:
        os._exit(1)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    files = "files" in access
    limits = [(resource.RLIMIT_CORE, 0), (resource.RLIMIT_NOFILE, MAX_FILES), *([] if files else [(resource.RLIMIT_FSIZE, 0)])]
    for kind, limit in limits:
        resource.setrlimit(kind, (limit, limit))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write fails with EFBIG instead
    if not files:
        restrict_reading(library_folders())
    restrict_calls(files, "network" in access)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
