"""One OpenGL context a thread. What a software driver compiles for its pictures takes half a second or more, stays with the context, and so serves every
renderer that the thread opens.
"""

from __future__ import annotations

import atexit
import os
import threading
from typing import Any

SIDE = 16  # [px] of the context's own surface, on which nothing is drawn: pictures have buffers of their own

_kept = threading.local()
_inherited: list[Any] = []  # contexts of a parent process: freeing them there is the parent's


def current_gl() -> Any:
    """Make this thread's OpenGL context current, and the context itself where there is none yet; it lives as long as the thread.

    Raises:
        Exception: of whatever kind the platform's OpenGL raises where the machine cannot render off screen.
    """
    if getattr(_kept, "process", None) != os.getpid():
        from mujoco.gl_context import GLContext

        if hasattr(_kept, "context"):
            _inherited.append(_kept.context)
        _kept.context, _kept.process = GLContext(SIDE, SIDE), os.getpid()
        if threading.current_thread() is threading.main_thread():
            atexit.register(_free)
    _kept.context.make_current()
    return _kept.context


def _free() -> None:
    if getattr(_kept, "process", None) == os.getpid():
        _kept.context.free()
        del _kept.context, _kept.process
