"""A Panda in robosuite 1.4, with or without LIBERO's tasks. Runs in the environment that `deskhand bench libero install` makes; imports nothing of deskhand's.

Object poses of the observations are dropped: the robot's side reads joints and pictures alone.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import wire

KP = 400.0
CONTROLLER = {"output_max": 1.0, "output_min": -1.0, "kp": KP}
WAIT = 20  # steps until what was put into the air has come to rest
HAND_CAMERA = "robot0_eye_in_hand"
OBJECT_GEOM = 5  # mjOBJ_GEOM, as the segmentation picture counts


class RobosuiteWorld:
    """What all tasks share; a subclass makes the environment."""

    def __init__(self) -> None:
        self.env: Any = None
        self.instruction = ""
        self.steps = 0
        self.first_done = -1

    # ------------------------------------------------------------ made by the scorer

    def make(self, case: dict[str, Any]) -> None:
        """Set ``env`` and ``instruction``, and bring the case's start about."""
        raise NotImplementedError

    @property
    def inner(self) -> Any:
        """The robosuite environment within the wrapper."""
        return self.env

    def load(self, case: dict[str, Any]) -> dict[str, Any]:
        """See World."""
        self.steps, self.first_done = 0, -1
        self.make(case)
        for _ in range(WAIT):
            self.env.step(np.r_[np.zeros(self.inner.action_dim - 1), -1.0])
        return {"instruction": self.instruction, "done": self.done()}

    def done(self) -> bool:
        """The environment's own test."""
        return bool(self.inner._check_success())

    # ------------------------------------------------------------ the robot

    @property
    def sim(self) -> Any:
        """The simulation; after a hard reset it is another one."""
        return self.inner.sim

    @property
    def robot(self) -> Any:
        """The arm."""
        return self.inner.robots[0]

    def hello(self) -> dict[str, Any]:
        """See World."""
        joints = [name.replace("robot0_", "panda_") for name in self.robot.robot_model.joints]
        return {"joints": joints, "period": 1.0 / float(self.inner.control_freq), "kp": KP, "cameras": list(self.cameras()), "instruction": self.instruction}

    def cameras(self) -> tuple[str, ...]:
        """Their names."""
        return ("agentview", HAND_CAMERA)

    def state(self) -> tuple[dict[str, Any], wire.Arrays]:
        """See World."""
        data, robot = self.sim.data, self.robot
        fingers = np.asarray(robot._ref_gripper_joint_pos_indexes)
        arrays = {
            "positions": np.array([data.qpos[i] for i in robot._ref_joint_pos_indexes]),
            "velocities": np.array([data.qvel[i] for i in robot._ref_joint_vel_indexes]),
            "fingers": np.array([data.qpos[i] for i in fingers]),
            "finger_speeds": np.array([data.qvel[i] for i in robot._ref_gripper_joint_vel_indexes]),
            "finger_forces": np.array([data.actuator_force[i] for i in robot._ref_joint_gripper_actuator_indexes]),
        }
        return {"time": self.steps / float(self.inner.control_freq), "steps": self.steps}, arrays

    def step(self, goals: Any, grip: Any) -> None:
        """See World. A goal is where the joints' controller is to pull [rad]."""
        for goal, sign in zip(goals, grip, strict=True):
            now = np.array([self.sim.data.qpos[i] for i in self.robot._ref_joint_pos_indexes])
            self.env.step(np.r_[np.clip(goal - now, -1.0, 1.0), float(np.sign(sign))])
            self.steps += 1
            if self.first_done < 0 and self.done():
                self.first_done = self.steps

    def picture(self, camera: str, width: int, height: int) -> tuple[dict[str, Any], wire.Arrays]:
        """See World. Depth [m] along the optical axis; rows from the top."""
        if camera not in self.cameras():
            raise ValueError(f"there is no camera {camera!r}; there are {', '.join(self.cameras())}")
        sim = self.sim
        rgb, raw = sim.render(width=width, height=height, camera_name=camera, depth=True)
        extent, view = float(sim.model.stat.extent), sim.model.vis.map
        near, far = view.znear * extent, view.zfar * extent
        depth = near / (1.0 - raw[::-1] * (1.0 - near / far))
        number = sim.model.camera_name2id(camera)
        focal = 0.5 * height / math.tan(math.radians(float(sim.model.cam_fovy[number])) / 2)
        mounted = self._mounted(number)
        head = {"focal": focal, "time": self.steps / float(self.inner.control_freq), "on": mounted[0]}
        return head, {"color": np.asarray(rgb[::-1], np.uint8), "depth": depth.astype(np.float32), "pose": mounted[1]}

    def _mounted(self, number: int) -> tuple[str, Any]:
        """Where the camera is by its mount: ``base`` and base_T_optical, or ``hand`` and hand_T_optical, hand being the body `right_hand`."""
        sim = self.sim
        optical = np.eye(4)
        optical[:3, :3] = np.asarray(sim.data.cam_xmat[number]).reshape(3, 3) @ np.diag([1.0, -1.0, -1.0])
        optical[:3, 3] = sim.data.cam_xpos[number]
        hand = sim.model.camera_id2name(number) == HAND_CAMERA
        body = self._pose("robot0_right_hand" if hand else "robot0_base")
        return ("hand" if hand else "base"), np.linalg.inv(body) @ optical

    def _pose(self, body: str) -> Any:
        number = self.sim.model.body_name2id(body)
        pose = np.eye(4)
        pose[:3, :3] = np.asarray(self.sim.data.body_xmat[number]).reshape(3, 3)
        pose[:3, 3] = self.sim.data.body_xpos[number]
        return pose

    # ------------------------------------------------------------ the scorer

    def outcome(self) -> dict[str, Any]:
        """See World. ``first`` is the step at which the test held for the first time, -1: never."""
        return {"done": self.done(), "first": self.first_done, "steps": self.steps}

    def bodies(self) -> dict[str, int]:
        """Body of each object by name."""
        return {name: int(number) for name, number in self.inner.obj_body_id.items()}

    def truth(self) -> dict[str, Any]:
        """See World: base_T_object of each object by name."""
        base = np.linalg.inv(self._pose("robot0_base"))
        poses = {}
        for name, number in self.bodies().items():
            pose = np.eye(4)
            pose[:3, :3] = np.asarray(self.sim.data.body_xmat[number]).reshape(3, 3)
            pose[:3, 3] = self.sim.data.body_xpos[number]
            poses[name] = (base @ pose).tolist()
        return {"steps": self.steps, "objects": poses, "goal": self.goal(), **self.outcome()}

    def goal(self) -> list[list[str]]:
        """The goal's conditions, as the task's file has them."""
        return []

    def masks(self, camera: str, width: int, height: int) -> tuple[dict[str, Any], wire.Arrays]:
        """See World: (height, width) numbers, 0 for nothing of interest, else 1 + the place in ``names``."""
        kinds = self.sim.render(width=width, height=height, camera_name=camera, segmentation=True)[::-1]
        model, names = self.sim.model, list(self.bodies())
        number_of = {body: index + 1 for index, body in enumerate(self.bodies().values())}
        of_geom = np.zeros(model.ngeom + 1, np.int32)
        for geom in range(model.ngeom):
            body = int(model.geom_bodyid[geom])
            while body and body not in number_of:
                body = int(model.body_parentid[body])
            of_geom[geom] = number_of.get(body, 0)
        ids = np.where(kinds[..., 0] == OBJECT_GEOM, kinds[..., 1], model.ngeom)
        return {"names": names}, {"mask": of_geom[np.clip(ids, 0, model.ngeom)].astype(np.int32)}


class LiberoWorld(RobosuiteWorld):
    """A task of LIBERO or LIBERO-PRO: case {suite, task, state, seed, horizon}."""

    _made: tuple[str, int] | None = None

    @property
    def inner(self) -> Any:
        """See RobosuiteWorld."""
        return self.env.env

    def make(self, case: dict[str, Any]) -> None:
        """See RobosuiteWorld."""
        from libero.libero import benchmark, get_libero_path
        from libero.libero.envs import OffScreenRenderEnv, env_wrapper

        suite, number = str(case["suite"]), int(case["task"])
        chosen = benchmark.get_benchmark(suite)(task_order_index=0)
        task, states = chosen.get_task(number), chosen.get_task_init_states(number)
        if self._made != (suite, number):
            if self.env is not None:
                self.env.close()
            read = env_wrapper.suite.load_controller_config  # the wrapper takes a name only: the options go in here
            env_wrapper.suite.load_controller_config = lambda **named: {**read(**named), **CONTROLLER}
            try:
                file = Path(get_libero_path("bddl_files")) / task.problem_folder / task.bddl_file
                self.env = OffScreenRenderEnv(
                    bddl_file_name=str(file),
                    controller="JOINT_POSITION",
                    use_camera_obs=False,
                    hard_reset=False,
                    horizon=int(case["horizon"]) + WAIT + 1,
                )
            finally:
                env_wrapper.suite.load_controller_config = read
            self._made = (suite, number)
        self.env.seed(int(case.get("seed", 0)))  # fixtures are placed at reset by a global generator
        self.env.reset()
        self.env.set_init_state(states[int(case["state"])])
        self.instruction = str(self.env.language_instruction)  # the task's own is made from the file's name, which perturbed suites share with plain ones

    def goal(self) -> list[list[str]]:
        """See RobosuiteWorld."""
        return [list(condition) for condition in self.inner.parsed_problem["goal_state"]]


class PlainWorld(RobosuiteWorld):
    """A task of robosuite's own: case {task, seed, options, horizon}; its instruction is deskhand's sentence for it, given in the case."""

    def make(self, case: dict[str, Any]) -> None:
        """See RobosuiteWorld."""
        import robosuite

        if self.env is not None:
            self.env.close()
        config = {**robosuite.load_controller_config(default_controller="JOINT_POSITION"), **CONTROLLER}
        np.random.seed(int(case["seed"]))  # noqa: NPY002 - robosuite draws its places from the global generator
        self.env = robosuite.make(
            str(case["task"]),
            robots="Panda",
            controller_configs=config,
            has_renderer=False,
            has_offscreen_renderer=True,
            use_camera_obs=False,
            use_object_obs=True,
            control_freq=20,
            horizon=int(case["horizon"]) + WAIT + 1,
            **dict(case.get("options", {})),
        )
        self.env.reset()
        self.instruction = str(case["instruction"])

    def bodies(self) -> dict[str, int]:
        """See RobosuiteWorld."""
        listed = getattr(self.env, "objects", None) or [item for item in (getattr(self.env, "cubeA", None), getattr(self.env, "cubeB", None)) if item]
        return {item.name: int(self.sim.model.body_name2id(item.root_body)) for item in listed}


WORLDS = {"libero": LiberoWorld, "robosuite": PlainWorld}
