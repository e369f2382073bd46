"""A filter of system calls for the calling process (Linux seccomp, no privileges needed): no writing, no network, no other processes.

A classic BPF program is made of (code, jump if true, jump if false, value) and looks at the number of the call and the low halves of its arguments.
Source: Documentation/userspace-api/seccomp_filter.rst and the tables of system calls of Linux for x86-64 and arm64.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from collections.abc import Iterable

from deskhand.errors import DeskhandError

_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}  # AUDIT_ARCH, column of the tables below

# name: (x86-64, arm64); None where the machine has no such call
_NETWORK = {
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
}
_WRITING = {
    "creat": (85, None), "truncate": (76, 45), "rename": (82, None), "renameat": (264, 38), "renameat2": (316, 276), "mkdir": (83, None), "mkdirat": (258, 34),
    "rmdir": (84, None), "unlink": (87, None), "unlinkat": (263, 35), "link": (86, None), "linkat": (265, 37), "symlink": (88, None), "symlinkat": (266, 36),
    "mknod": (133, None), "mknodat": (259, 33), "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None),
    "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54), "utime": (132, None), "utimes": (235, None), "utimensat": (280, 88),
    "futimesat": (261, None), "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
}  # fmt: skip
_OTHERS = {
    "execve": (59, 221), "execveat": (322, 281), "fork": (57, None), "vfork": (58, None), "ptrace": (101, 117), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424), "pidfd_getfd": (438, 438), "setrlimit": (160, 164), "setpriority": (141, 140), "sched_setaffinity": (203, 122),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "bpf": (321, 280), "perf_event_open": (298, 241),
    "userfaultfd": (323, 282), "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218), "shmget": (29, 194), "msgget": (68, 186),
    "semget": (64, 190), "mq_open": (240, 180), "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "chroot": (161, 51), "move_mount": (429, 429), "open_tree": (428, 428), "fsopen": (430, 430), "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265), "reboot": (169, 142), "kexec_load": (246, 104), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "settimeofday": (164, 170), "clock_settime": (227, 112), "sethostname": (170, 161), "swapon": (167, 224), "acct": (163, 89),
}  # fmt: skip
_ABSENT = {"clone3": (435, 435), "openat2": (437, 437)}  # answered with ENOSYS, so that libc takes the older call, whose arguments can be looked at
_CLONE, _OPEN, _OPENAT = (56, 220), (2, None), (257, 56)
_KILL, _TGKILL, _PRLIMIT = (62, 129), (234, 131), (302, 261)

_CLONE_THREAD = 0x00010000
_TO_WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL_PROCESS, _REFUSE, _NO_SUCH = 0x7FFF0000, 0x80000000, 0x00050000 | 1, 0x00050000 | 38  # EPERM, ENOSYS
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _FILTER = 38, 22, 2

Instruction = tuple[int, int, int, int]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def restrict_calls(files: bool = False, network: bool = False) -> None:
    """Hold this thread, and all that it starts, to the filter from now on; there is no way back.

    Refused calls fail with EPERM, which Python raises as PermissionError.

    Args:
        files: files may be written.
        network: sockets may be opened.

    Raises:
        DeskhandError: ``missing_dependency`` where the kernel or the machine has no such filter.
    """
    program = filter_program(platform.machine(), os.getpid(), files, network)
    code = b"".join(struct.pack("<HBBI", *instruction) for instruction in program)
    libc = ctypes.CDLL(None, use_errno=True)
    structure = _Program(len(program), code)
    zero = ctypes.c_ulong(0)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), zero, zero, zero) or libc.prctl(
        _PR_SET_SECCOMP, ctypes.c_ulong(_FILTER), ctypes.byref(structure), zero, zero
    ):
        raise DeskhandError("missing_dependency", f"this kernel cannot isolate a tool: seccomp: {os.strerror(ctypes.get_errno())}.")


def filter_program(machine: str, pid: int, files: bool = False, network: bool = False) -> list[Instruction]:
    """The filter for a process ``pid``.

    Raises:
        DeskhandError: ``missing_dependency`` for a machine whose calls are not known.
    """
    if machine not in _MACHINES:
        raise DeskhandError("missing_dependency", f"tools cannot be isolated on {machine}; known: {', '.join(_MACHINES)}.")
    architecture, column = _MACHINES[machine]
    program: list[Instruction] = [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _KILL_PROCESS), (_LOAD, 0, 0, _NUMBER)]
    if machine == "x86_64":
        program += [(_AT_LEAST, 0, 1, 0x40000000), (_RETURN, 0, 0, _REFUSE)]  # the x32 calls have other numbers
    refused = {**_OTHERS, **({} if files else _WRITING), **({} if network else _NETWORK)}
    for table, answer in ((refused, _REFUSE), (_ABSENT, _NO_SUCH)):
        for numbers in table.values():
            program += _when(numbers[column], [(_RETURN, 0, 0, answer)])
    program += _when(_CLONE[column], [_argument(0), (_ANY_BIT, 1, 0, _CLONE_THREAD), (_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)])
    if not files:
        for numbers, position in ((_OPEN, 1), (_OPENAT, 2)):
            program += _when(numbers[column], [_argument(position), (_ANY_BIT, 0, 1, _TO_WRITE), (_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)])
    for numbers in (_KILL, _TGKILL):
        program += _when(numbers[column], [_argument(0), (_EQUAL, 1, 0, pid), (_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)])
    new_limits = [_argument(2), (_EQUAL, 0, 2, 0), _argument(2, high=True), (_EQUAL, 1, 0, 0), (_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)]
    program += _when(_PRLIMIT[column], new_limits)
    return [*program, (_RETURN, 0, 0, _ALLOW)]


def _argument(position: int, high: bool = False) -> Instruction:
    return (_LOAD, 0, 0, _ARGUMENTS + 8 * position + (4 if high else 0))


def _when(number: int | None, then: Iterable[Instruction]) -> list[Instruction]:
    """``then``, which always returns, for the call of this number."""
    body = list(then)
    return [] if number is None else [(_EQUAL, 0, len(body), number), *body]
