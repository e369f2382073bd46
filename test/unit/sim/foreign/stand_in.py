"""A tiny world that speaks the protocol of a foreign simulator: seven joints pulled by a spring, two fingers, a wall for a camera, one cube as the truth."""

from __future__ import annotations

import socket
import threading

import numpy as np
import serving

from deskhand.sim.foreign.link import Link, Scorer

PERIOD, INNER, KP = 0.05, 0.002, 400.0
START = np.array([0, -0.161, 0, -2.445, 0, 2.227, 0.785])


class StandIn:
    """Joint accelerations are kp (goal - q) - 2 sqrt(kp) v, as robosuite's controller makes them; fingers stop at ``held`` [m] of width."""

    def __init__(self, held: float = 0.0) -> None:
        self.held = held
        self.loaded: dict = {}
        self.received: list = []

    def load(self, case):
        if case.get("task") == "broken":
            raise KeyError("no such task")
        self.loaded = dict(case)
        self.q, self.v, self.steps, self.width, self.target = START.copy(), np.zeros(7), 0, 0.0417, 0.04
        return {"instruction": "put the cube on the plate"}

    def hello(self):
        joints = [f"panda_joint{index}" for index in range(1, 8)]
        return {"joints": joints, "period": PERIOD, "kp": KP, "cameras": ["agentview"], "instruction": "put the cube on the plate"}

    def state(self):
        finger = (self.width + 0.001) / 2
        arrays = {"positions": self.q.copy(), "velocities": self.v.copy(), "fingers": np.array([finger, -finger])}
        arrays |= {"finger_speeds": np.array([self.speed, -self.speed]) / 2 if self.steps else np.zeros(2), "finger_forces": np.array([-5.0, 5.0])}
        return {"time": self.steps * PERIOD, "steps": self.steps}, arrays

    def step(self, goals, grip):
        for goal, sign in zip(goals, grip, strict=True):
            self.received.append((goal.copy(), float(sign)))
            for _ in range(round(PERIOD / INNER)):
                self.v += INNER * (KP * (np.clip(goal - self.q, -1, 1)) - 2 * np.sqrt(KP) * self.v)
                self.q += INNER * self.v
            self.target = float(np.clip(self.target - 0.01 * sign, 0.0, 0.08))
            before = self.width
            self.width = min(max(self.target, self.held), 0.0778)
            self.speed = (self.width - before) / PERIOD
            self.steps += 1

    def picture(self, camera, width, height):
        color = np.full((height, width, 3), 120, np.uint8)
        pose = np.array([[0.0, 0, 1, 1.5], [1, 0, 0, 0], [0, -1, 0, 0.5], [0, 0, 0, 1]])
        return {"focal": 500.0, "time": self.steps * PERIOD, "on": "base"}, {"color": color, "depth": np.full((height, width), 1.2, np.float32), "pose": pose}

    def outcome(self):
        return {"done": self.steps > 10, "first": 11 if self.steps > 10 else -1, "steps": self.steps}

    def truth(self):
        return {"objects": {"cube_1": np.eye(4).tolist()}, "goal": [["on", "cube_1", "plate_1"]]}

    def masks(self, camera, width, height):
        return {"names": ["cube_1"]}, {"mask": np.ones((height, width), np.int32)}


class Served:
    """The world in a thread of this process; ``robot`` and ``scorer`` are what the two sides of deskhand get."""

    def __init__(self, world: StandIn | None = None, load: bool = True) -> None:
        self.world = world or StandIn()
        robot, scorer = socket.socketpair(), socket.socketpair()
        self.raw = robot[0]
        self.thread = threading.Thread(target=serving.serve, args=(self.world, robot[1], scorer[1]), daemon=True)
        self.thread.start()
        self.robot, self._scored = Link(robot[0], 10.0), Link(scorer[0], 10.0)
        self.scorer = Scorer(self._scored)
        if load:
            self.scorer.load({"task": "any"})

    def close(self) -> None:
        self.robot.close()
        self._scored.close()
        self.thread.join(5.0)
