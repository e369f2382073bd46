"""The page: a viser server that draws the moments of a source and hands the operator's word on."""

from __future__ import annotations

import logging
import socket
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any

from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.view.moment import Moment, Operator, Source
from deskhand.view.origin import is_own
from deskhand.view.replay import Replay

if TYPE_CHECKING:
    import viser

log = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
PORT = 8080
REFRESH = 0.1  # [s] between two drawings
UNWATCHED = 0.5  # [s] while no browser is there
BRAND = (28, 126, 214)


class Page:
    """Serves the page from :meth:`open` to :meth:`close`.

    Args:
        source: what is shown.
        model: the arm.
        operator: who takes the operator's word; None for a page that only shows.
        host: address to listen on; the page has no password, so it should be one that only this machine reaches.
        port: the next free one is taken where it is not free.
    """

    def __init__(self, source: Source, model: RobotModel, operator: Operator | None = None, host: str = LOOPBACK, port: int = PORT) -> None:
        self._source, self._model, self._operator = source, model, operator
        self._host, self._port = host, port
        self._server: viser.ViserServer | None = None
        self._parts: list[Any] = []
        self._drawing = threading.Lock()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Page:
        self.open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def url(self) -> str:
        """Where the page is."""
        port = self._port if self._server is None else self._server.get_port()
        return f"http://{self._host}:{port}"

    @property
    def watched(self) -> bool:
        """Whether a browser shows the page."""
        return self._server is not None and bool(self._server.get_clients())

    def open(self) -> None:
        """Begin to serve.

        Raises:
            DeskhandError: ``missing_dependency`` without viser.
        """
        viser = load_viser()
        server = viser.ViserServer(host=self._host, port=self._port, label="deskhand", verbose=False)
        self._server = server
        _refuse_other_sites(server)
        self._build(server)
        self._thread = threading.Thread(target=self._run, name="page", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Serve no more; once more does nothing."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join(timeout=5.0)
        if self._server is not None:
            self._server.stop()
            self._server = None

    def _build(self, server: viser.ViserServer) -> None:
        from deskhand.view.desk import DeskDrawing
        from deskhand.view.panels import WIDTH, Controls, Notices, Pictures, Player, Shown, Steps

        gui = server.gui
        gui.configure_theme(show_logo=False, show_share_button=False, brand_color=BRAND)  # sharing would open the page to the internet
        gui.set_panel_label("deskhand")
        live = self._operator is not None
        first = Controls(server, self._operator, Notices(server)) if self._operator is not None else self._player(server, Player)
        self._shown = Shown(server, live)
        gui.main_panel.dock_left()
        gui.main_panel.set_width(WIDTH)
        seen = gui.add_panel()
        with seen.add_tab("Sees and does"):
            pictures = Pictures(server, live)
            steps = Steps(server)
        seen.dock_right()
        seen.set_width(WIDTH)
        self._desk = DeskDrawing(server, self._model)
        self._parts = [part for part in (first, pictures, steps) if part is not None]

    def _player(self, server: viser.ViserServer, player: Any) -> Any:
        return player(server, self._source) if isinstance(self._source, Replay) else None

    def refresh(self) -> None:
        """Draw what is now; from any thread."""
        with self._drawing:
            moment: Moment = self._source.moment()
            self._desk.show(moment, self._shown.options())
            for part in self._parts:
                part.show(moment)

    def _run(self) -> None:
        while not self._closing.wait(REFRESH if self.watched else UNWATCHED):
            try:
                self.refresh()
            except Exception:  # the page goes on: stop must work whatever could not be drawn
                log.exception("a moment could not be drawn")


def free_port(host: str = LOOPBACK, port: int = PORT) -> int:
    """``port``, or the next that nobody listens on."""
    for candidate in range(port, port + 100):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, candidate))
            except OSError:
                continue
            return candidate
    raise DeskhandError("config_error", f"no port from {port} to {port + 99} is free on {host}.", hint="Give another one with --port.")


def load_viser() -> Any:
    """The library that serves the page.

    Raises:
        DeskhandError: ``missing_dependency``.
    """
    try:
        import viser
    except ImportError as error:
        raise DeskhandError(
            "missing_dependency", f"the operator page needs viser, and {error.name} is not installed.", hint="pip install 'viser>=1.1,<2' (extra: view)."
        ) from error
    return viser


def _refuse_other_sites(server: viser.ViserServer) -> None:
    """Close connections of pages that this server has not served, before anything is read from them."""
    websockets = server._websock_server  # viser has no public way to see a connection's headers

    async def check(client: Any) -> None:
        connection = websockets._live_connections[client.client_id]
        headers = connection.request.headers
        if not is_own(headers.get("Origin"), headers.get("Host")):
            log.warning("refused a connection of %s", headers.get("Origin"))
            await connection.close(1008, "this page may only be used from its own address")

    websockets.on_client_connect(check)
