"""The page's widgets: what the operator presses and types, the pictures, the step list."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

from deskhand.errors import DeskhandError
from deskhand.types import Image
from deskhand.view import markup
from deskhand.view.desk import Options
from deskhand.view.moment import Moment, Operator, is_stopped
from deskhand.view.replay import Replay

if TYPE_CHECKING:
    import viser

log = logging.getLogger(__name__)

WIDTH = 380  # [px] of a panel
PICTURE_WIDTH = 480  # [px]
JPEG = 80
EMPTY = np.full((240, 320, 3), 232, np.uint8)
SPEEDS = ("0.5 x", "1 x", "2 x", "4 x", "10 x")
SECONDS = 6.0  # that a notice stays


class Notices:
    """Says what came of a press: on the page that it was pressed on."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._server = server

    def doing(self, what: Callable[[], str]) -> Callable[[Any], None]:
        """A callback that does ``what`` and shows its answer or why it could not be done."""

        def act(event: Any) -> None:
            try:
                text, color = what(), "green"
            except DeskhandError as error:
                text, color = str(error), "red"
            except Exception as error:  # a press must never end in silence
                log.exception("a press on the page failed")
                text, color = f"{type(error).__name__}: {error}", "red"
            if text:
                self._show(getattr(event, "client", None), text, color)

        return act

    def _show(self, client: Any, text: str, color: Any) -> None:
        for one in [client] if client is not None else self._server.get_clients().values():
            one.add_notification("", text, color=color, auto_close_seconds=SECONDS)


class Controls:
    """Stop, pause, instruction, words to the task, leave."""

    def __init__(self, server: viser.ViserServer, operator: Operator, notices: Notices) -> None:
        gui, self._operator, self._asked = server.gui, operator, ""
        self._paused = False
        self._status = gui.add_html(markup.status(Moment()))
        self._stop = gui.add_button("STOP", color="red", icon="hand-stop", hint="Stops the arm at once, latched, and ends the task.")
        self._reset = gui.add_button("Reset the stop", color="gray", icon="refresh", visible=False, hint="The arm may move again; nothing moves by itself.")
        self._pause = gui.add_button("Pause", color="violet", icon="player-pause", hint="The motion under way ends; no new one begins until you resume.")
        with gui.add_folder("Waits for your leave", visible=False) as self._leave:
            self._request = gui.add_html("")
            yes = gui.add_button("Approve", color="green", icon="check")
            all_of = gui.add_button("Approve all of this caller", color="gray", icon="checks", hint="This call, and all others of its session, without asking.")
            no = gui.add_button("Deny", color="red", icon="x")
        with gui.add_form("Instruction") as self._instruction:
            self._words = gui.add_text("Do", "", hint="What the robot is to do, in words. Enter sends it.")
            run = gui.add_button("Run", icon="player-play")
        self._task = gui.add_html("")
        with gui.add_form("Words to the running task", visible=False) as self._telling:
            self._question = gui.add_html("")
            self._told = gui.add_text("Say", "", hint="An answer, or a correction such as: no, the other cup.")
            say = gui.add_button("Say", icon="message")
        self._connect(notices, (yes, all_of, no), run, say)

    def _connect(self, notices: Notices, leave: tuple[Any, Any, Any], run: Any, say: Any) -> None:
        operator, (yes, all_of, no) = self._operator, leave
        self._stop.on_click(notices.doing(operator.stop))
        self._reset.on_click(notices.doing(operator.reset))
        self._pause.on_click(notices.doing(lambda: operator.pause(not self._paused)))
        yes.on_click(notices.doing(lambda: operator.decide(self._asked, True)))
        all_of.on_click(notices.doing(lambda: operator.decide(self._asked, True, grant=True)))
        no.on_click(notices.doing(lambda: operator.decide(self._asked, False)))
        self._instruction.on_submit(notices.doing(lambda: _send(self._words, operator.run)))
        self._telling.on_submit(notices.doing(lambda: _send(self._told, operator.tell)))
        run.on_click(lambda _: self._instruction.submit())
        say.on_click(lambda _: self._telling.submit())

    def show(self, moment: Moment) -> None:
        """Draw what has changed; setting a value that is the same sends nothing."""
        self._paused = moment.paused
        first = moment.waiting[0] if moment.waiting else None
        self._asked = first.id if first else ""
        stopped = is_stopped(moment)
        _set(self._status, content=markup.status(moment))
        _set(self._reset, visible=stopped)
        _set(self._pause, label="Resume" if moment.paused else "Pause", visible=not stopped)
        _set(self._leave, visible=first is not None)
        _set(self._request, content=markup.request(first) if first else "")
        _set(self._task, content=markup.task(moment))
        _set(self._telling, visible=moment.task.running)
        _set(self._question, content=markup.question(moment))


class Player:
    """Slider and buttons over the time of an episode."""

    def __init__(self, server: viser.ViserServer, replay: Replay) -> None:
        gui, self._replay = server.gui, replay
        first, last = replay.span
        self._status = gui.add_html(markup.status(replay.at(first)))
        self._task = gui.add_html(markup.task(replay.at(first)))
        with gui.add_folder("Time"):
            self._slider = gui.add_slider("Second", 0.0, max(round(last - first, 2), 0.01), 0.01, 0.0)
            self._play = gui.add_button("Play", icon="player-play")
            self._speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1 x")
        self._slider.on_update(self._slid)
        self._play.on_click(lambda _: replay.play(0.0 if replay.speed else self._factor()))
        self._speed.on_update(lambda _: replay.play(self._factor()) if replay.speed else None)

    def _factor(self) -> float:
        return float(self._speed.value.split()[0])

    def _slid(self, event: Any) -> None:
        if event.client is not None:  # by hand, not by show()
            self._replay.seek(self._replay.span[0] + float(self._slider.value))

    def show(self, moment: Moment) -> None:
        """Move the slider along."""
        _set(self._status, content=markup.status(moment))
        _set(self._task, content=markup.task(moment))
        running = self._replay.speed > 0
        if running or self._play.label == "Halt":
            self._slider.value = round(moment.time - self._replay.span[0], 2)
        _set(self._play, label="Halt" if running else "Play")


class Pictures:
    """What the camera sees: the last look with its detections, or the newest picture."""

    LOOK, NOW = "last look, with detections", "camera now"

    def __init__(self, server: viser.ViserServer, live: bool) -> None:
        self._image = server.gui.add_image(EMPTY, format="jpeg", jpeg_quality=JPEG)
        self._which = server.gui.add_dropdown("Picture", (self.LOOK, self.NOW), initial_value=self.LOOK, visible=live)
        self._shown: Image | None = None

    def show(self, moment: Moment) -> None:
        """Send the picture where it is new."""
        picture = moment.camera if self._which.value == self.NOW else moment.picture
        if picture is not None and picture is not self._shown:
            self._image.image = small(picture)
            self._shown = picture


class Steps:
    """The step list."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._html = server.gui.add_html(markup.steps(()))

    def show(self, moment: Moment) -> None:
        """Draw it where it has changed."""
        _set(self._html, content=markup.steps(moment.rows))


class Shown:
    """Which parts of the 3-D view are to be seen."""

    def __init__(self, server: viser.ViserServer, live: bool) -> None:
        gui, self._live = server.gui, live
        with gui.add_folder("Show", expand_by_default=False):
            self._labels = gui.add_checkbox("Labels", True)
            self._grasps = gui.add_checkbox("Grasps", True)
            self._plan = gui.add_checkbox("Planned motion", True, visible=live)
            self._points = gui.add_checkbox("Seen points", False, visible=live)

    def options(self) -> Options:
        """As they are ticked now."""
        return Options(self._labels.value, self._grasps.value, self._plan.value, self._points.value)


def small(image: Image) -> Image:
    """(H, W, 3), at most :data:`PICTURE_WIDTH` wide."""
    height, width = image.shape[:2]
    if width <= PICTURE_WIDTH:
        return image
    return np.asarray(cv2.resize(image, (PICTURE_WIDTH, round(height * PICTURE_WIDTH / width)), interpolation=cv2.INTER_AREA), np.uint8)


def _send(text: Any, what: Callable[[str], str]) -> str:
    words = str(text.value).strip()
    if not words:
        return ""
    answer = what(words)
    text.value = ""
    return answer


def _set(handle: Any, **values: Any) -> None:
    for name, value in values.items():
        if getattr(handle, name) != value:
            setattr(handle, name, value)
