"""The operator page in a real browser, on the simulated robot's real nodes: an instruction typed, a call approved, the stop pressed in motion.

Needs playwright and a Chromium (``make test-page``). With DESKHAND_PICTURES set to a folder, pictures of the page are left there.
"""

import contextlib
import os
import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed (pip install -r requirements/browser.txt)")
pytest.importorskip("viser", reason="the operator page needs viser (extra: view)")
pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

from harness import MOVING, JointWatcher
from playwright import sync_api

from deskhand.arms.config import load_arm
from deskhand.arms.model import RobotModel
from deskhand.bringup.domains import free_domain
from deskhand.bringup.environment import workstation_defaults
from deskhand.bringup.spec import StackOptions
from deskhand.bringup.stack import sim_nodes
from deskhand.bringup.supervisor import Supervisor
from deskhand.recording.episode.reader import read_episode
from deskhand.view.page import Page, free_port
from deskhand.view.replay import Replay

CHROMIUM = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed (apt-get install chromium)")
ARGUMENTS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
SIZE = {"width": 1280, "height": 760}
SLOW = 300_000  # [ms] for a processor that draws without a graphics card beside the whole robot
STOP_LIMIT = 0.5  # [s] of simulated time
SPEED = 0.2  # of simulated time: a motion lasts until a browser that is drawn by a processor has taken the press
SEED = 3


@dataclass
class Browser:
    """The page as a person has it."""

    page: "sync_api.Page"

    def button(self, name):
        return self.page.get_by_role("button", name=name, exact=True)

    def press(self, name):
        self.button(name).click(timeout=SLOW)

    def type(self, label, text):
        field = self.page.locator(f"xpath=//label[.='{label}']/following::input[1]")
        field.fill(text, timeout=SLOW)
        field.press("Enter")

    def sees(self, text):
        self.page.get_by_text(text).first.wait_for(state="visible", timeout=SLOW)

    def picture(self, name):
        folder = os.environ.get("DESKHAND_PICTURES")
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.page.screenshot(path=str(Path(folder) / f"{name}.png"), timeout=SLOW)


@contextlib.contextmanager
def browser(url):
    with sync_api.sync_playwright() as player:
        chromium = player.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            page = chromium.new_page(viewport=SIZE)
            page.set_default_timeout(SLOW)
            page.goto(url)
            seen = Browser(page)
            seen.sees("deskhand")
            with contextlib.suppress(sync_api.TimeoutError):  # viser's word that no graphics card draws
                page.get_by_role("alert").get_by_role("button").click(timeout=20_000)
            yield seen
        finally:
            chromium.close()


@contextlib.contextmanager
def robot(folder):
    """The nodes of ``deskhand up sim --view --approval motion``; the page's address, and a watcher of the joints."""
    port = free_port(port=18280)
    with free_domain() as domain:
        own = {"ROS_DOMAIN_ID": str(domain)}
        nodes = sim_nodes(StackOptions(view=True, view_port=port, approval="motion"), seed=SEED)
        records = {name: {"episode": str(folder)} for name in ("recorder", "tool_server", "orchestrator")}
        waits = {"tool_server": {"approval_timeout": 600.0}, "sim": {"realtime_factor": SPEED}}
        nodes = [replace(node, parameters={**node.parameters, **records.get(node.name, {}), **waits.get(node.name, {})}) for node in nodes]
        supervisor = Supervisor(nodes, log_folder=folder / "logs", environment={**workstation_defaults(os.environ), **own})
        watcher = None
        try:
            supervisor.start()
            supervisor.wait_ready(120.0)
            watcher = JointWatcher(domain)
            yield f"http://127.0.0.1:{port}", watcher
        finally:
            if watcher is not None:
                watcher.close()
            supervisor.stop()


def test_an_instruction_is_typed_a_call_is_approved_and_the_stop_pressed_in_motion_halts_the_arm(tmp_path):
    folder = tmp_path
    with robot(folder) as (url, watcher), browser(url) as page:
        page.type("Do", "put the blocks into the tray")
        page.sees("put the blocks into the tray")
        page.sees("waits for your leave: pick")
        before = watcher.last_motion()
        page.picture("view-approve")
        assert watcher.last_motion() == before, "nothing moves before the operator has said yes"
        page.press("Pause")
        page.sees("Resume")
        page.press("Approve")
        wait_for(lambda: "grasps of block_1" in log(folder, "grasping"))
        time.sleep(5.0)
        assert watcher.last_motion() == before, "nothing moves while it is paused"
        page.picture("view-plan")
        page.press("Resume")
        watcher.wait_until_moving(60.0)
        page.press("STOP")
        page.sees("STOPPED")
        pressed = stopped_at(folder)
        watcher.wait_until(pressed + 1.0, 60.0)
        assert any(speed > MOVING for stamp, speed in watcher.samples if pressed - 0.3 < stamp <= pressed), "it was pressed in motion"
        assert watcher.last_motion() - pressed < STOP_LIMIT
        page.picture("view-stopped")
        page.press("Reset the stop")
        page.sees("idle")
        still = watcher.last_motion()
        watcher.wait_until(watcher.samples[-1][0] + 1.0, 60.0)
        assert watcher.last_motion() == still, "a reset sets nothing going"
    replayed(folder)


def replayed(folder):
    """The same once more, from its record."""
    replay = Replay(read_episode(folder), load_arm("wx250s"))
    with Page(replay, RobotModel.load("wx250s"), port=free_port(port=18380)) as shown, browser(shown.url) as page:
        page.sees("works")
        assert replay.speed == 0.0
        page.press("Play")
        wait_for(lambda: replay.time > replay.span[0])
        page.press("Halt")
        replay.seek(stopped_at(folder) + 0.05)
        page.sees("STOPPED")
        page.sees("pick")
        page.picture("view-replayed")


def log(folder, node):
    return (folder / "logs" / f"{node}.log").read_text()


def wait_for(what, limit=120.0):
    end = time.monotonic() + limit
    while not what():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.1)


def stopped_at(folder):
    """[s] of simulated time at which the stop was latched, as recorded."""
    said = [stamp for stamp, data in read_episode(folder).json("/safety/status") if data["stopped"]]
    assert said, "the stop was recorded"
    return said[0]
