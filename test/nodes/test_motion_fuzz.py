"""Fuzzed requests to the real motion node: each is answered with a code, none moves the arm, none hurts the node.

``DESKHAND_FUZZ=300`` sends that many to every service (default 40).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mujoco")

from motion_fuzz import Fuzz
from motion_graph import ARM, Graph, goal, running_graph

from deskhand.errors import ERROR_NUMBERS, DeskhandError
from deskhand.nodes.action_client import ActionClient
from deskhand.nodes.node import wait_future
from deskhand.types import CollisionObject, SceneUpdate, Shape
from deskhand_interfaces.action import ExecutePlan

COUNT = int(os.environ.get("DESKHAND_FUZZ", "40"))
AT_ONCE = 6
CODES = set(ERROR_NUMBERS.values()) - {ERROR_NUMBERS["internal_error"]}


@pytest.fixture(scope="module")
def graph() -> Iterator[Graph]:
    with running_graph(52) as graph:
        yield graph


def test_every_request_is_answered_and_none_moves_the_arm(graph: Graph) -> None:
    graph.settle()
    before, seen = graph.seen[-1][1].copy(), len(graph.seen)
    fuzz, answers = Fuzz(ARM, 7), Counter[tuple[str, int]]()
    clients = {name: graph.node.create_client(kind, name, callback_group=graph.node.reentrant) for name, (kind, _) in fuzz.services().items()}
    for client in clients.values():
        assert client.wait_for_service(timeout_sec=20.0)
    plans: list[str] = []
    for _ in range(COUNT // AT_ONCE + 1):
        # Of all services, several at the same time.
        asked = [(name, make(), clients[name]) for name, (_, make) in fuzz.services().items() for _ in range(AT_ONCE)]
        fuzz.rng.shuffle(asked)  # type: ignore[arg-type]
        futures = [(name, request, client.call_async(request)) for name, request, client in asked]
        for name, request, future in futures:
            answer = wait_future(future, 60.0, name)
            answers[name, answer.error_code] += 1
            assert answer.error_code == 0 or (answer.error_code in CODES and answer.error_message), f"{name}: {answer.error_message}: {request}"
            plans += [answer.plan_id] if getattr(answer, "plan_id", "") else []
        assert graph.processes["motion"].poll() is None
    for name in clients:
        codes = {code for (service, code), _ in answers.items() if service == name}
        assert 0 in codes and len(codes) > 1, f"{name}: only {codes}; the requests are too tame or too broken"
    # Every plan so far is stale: the scene is another one now.
    graph.robot.update_scene(SceneUpdate(replace=(), detach=False))
    action = ActionClient(graph.node, ExecutePlan, "motion/execute_plan", callback_group=graph.node.reentrant)
    assert action.wait_for_server(timeout_sec=20.0)
    for _ in range(COUNT):
        assert _executed(action, fuzz.plan_id(plans)) in CODES | {-1}
    assert graph.robot.check_state().near is not None
    graph.wait(lambda: len(graph.seen) > seen + 20)
    assert max(np.abs(joints - before).max() for _, joints in graph.seen[seen:]) < 5e-3, "the arm moved"


def test_after_all_that_it_works_and_a_plan_moves_once(graph: Graph) -> None:
    try:
        graph.robot.update_scene(SceneUpdate(replace=(), detach=True))
    except DeskhandError:
        graph.robot.update_scene(SceneUpdate(replace=()))
    plan = graph.robot.plan_motion(goal(0.3))
    action = ActionClient(graph.node, ExecutePlan, "motion/execute_plan", callback_group=graph.node.reentrant)
    futures = [action.send_goal_async(ExecutePlan.Goal(plan_id=plan.id)) for _ in range(6)]
    handles = [wait_future(future, 20.0, "execute_plan") for future in futures]
    results = [wait_future(handle.get_result_async(), 60.0, "execute_plan").result for handle in handles if handle.accepted]
    assert sum(result.error_code == 0 for result in results) == 1
    assert all(result.error_code in {0, ERROR_NUMBERS["plan_used"]} for result in results)
    with pytest.raises(DeskhandError) as caught:
        graph.robot.execute(plan.id)
    assert caught.value.code == "plan_used"
    # A plan made for another scene.
    stale = graph.robot.plan_motion(goal(-0.3))
    graph.robot.update_scene(SceneUpdate(add=(CollisionObject("cube", (Shape("box", (0.03, 0.03, 0.03)),), _at(0.1, 0.3, 0.015)),)))
    with pytest.raises(DeskhandError) as caught:
        graph.robot.execute(stale.id)
    assert caught.value.code == "plan_expired"


def _executed(action: Any, plan_id: str) -> int:
    """The code that execute_plan answers; -1 when it refused the goal."""
    handle = wait_future(action.send_goal_async(ExecutePlan.Goal(plan_id=plan_id)), 20.0, "execute_plan")
    return int(wait_future(handle.get_result_async(), 60.0, "execute_plan").result.error_code) if handle.accepted else -1


def _at(x: float, y: float, z: float) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose
