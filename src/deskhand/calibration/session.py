"""Brings the arm from pose to pose and takes a picture of the board at each."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from deskhand.arms.model import RobotModel
from deskhand.calibration.board import Board
from deskhand.calibration.handeye import FEWEST_VIEWS, HandEye, HandView, Limits, calibrate
from deskhand.calibration.poses import Guess, Joints, lying_places, pose_set, scatter
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, inverse, make_transform
from deskhand.skills.robot import Robot
from deskhand.types import CollisionObject, JointState, MotionGoal, PlanOptions, SceneUpdate, Shape

SETTLE = 0.6  # [s] that an arm swings after it has arrived
SPEED = 0.3  # of the limits
PLATE = "calibration_board"
PLATE_THICKNESS = 0.006  # [m]
LOOKS = 2  # poses from which a place on the desk is looked at for the board
FIRST = 8  # pictures after which the guess is replaced by what they say
MORE = 3  # times that more pictures are taken
HOPELESS = 2.0  # times the uncertainty that is allowed: more pictures will not make up for that
LOOSE = Limits(shift=0.05, turn=0.2, shift_sigma=0.05, turn_sigma=0.2)
"""For that: only poses that are too alike are refused."""

log = logging.getLogger(__name__)
Progress = Callable[[str], None]


@dataclass
class Session:
    """One calibration.

    Args:
        robot: that moves; its planner keeps it off everything it knows, and its safety envelope holds.
        model: of the arm.
        board: that is looked at.
        guess: where camera and board are meant to be; a board that is seen from where the arm stands is measured first, and one
            that lies on the desk is looked for.
        progress: told one line for each picture.
        hand_over: asks a person to do something with the board, and returns when it is done.
        seed: of the choice of poses.
    """

    robot: Robot
    model: RobotModel
    board: Board
    guess: Guess
    progress: Progress = log.info
    hand_over: Progress = log.info
    seed: int = 0

    def run(self, count: int, limits: Limits | None = None) -> tuple[HandEye, list[HandView]]:
        """Take ``count`` pictures and solve; more, up to twice as many, where only their number is lacking.

        Raises:
            DeskhandError: ``calibration_failed`` when the board is not seen or the result is not good enough; ``safety_stop`` and what else moving raises.
        """
        rng = np.random.default_rng(self.seed)
        views: list[HandView] = []
        if self.guess.mounting == "fixed":
            self._intrinsics = self.robot.observe().intrinsics
            self._take_board(rng)
        self._first_look(rng)
        try:
            for wanted in (min(FIRST, count), count):
                self._collect(views, wanted, count, rng)
            for _ in range(MORE):
                wanted = min(self._needed(views, limits or Limits()), 2 * count)
                if wanted <= len(views):
                    break
                self.progress(f"the camera is not known well enough yet: {wanted - len(views)} pictures more")
                self._collect(views, wanted, wanted, rng)
        finally:
            if self.guess.mounting == "fixed":
                self.robot.update_scene(SceneUpdate(detach=True))
                self.robot.update_scene(SceneUpdate(remove=(PLATE,)))
        return calibrate(views, self.board, self._intrinsics, self.guess.mounting, limits), views

    def _collect(self, views: list[HandView], wanted: int, count: int, rng: np.random.Generator) -> None:
        """Add pictures to ``views`` until they are ``wanted``, of ``count`` in all, and learn from them."""
        known = [view.world_T_hand for view in views]
        poses = pose_set(self.model, self.guess, self.board, self._intrinsics, wanted - len(views), rng, self._free, known)
        for joints in poses:
            view = self._picture(joints)
            if view is not None:
                views.append(view)
            self.progress(f"{len(views)} of {count} pictures")
        self._learn(views)

    def _needed(self, views: list[HandView], limits: Limits) -> int:
        """How many pictures would make the camera known well enough: its uncertainty falls with the root of their number. 0 where it is known so, and where
        more pictures do not help: they contradict each other, or it is far from known.
        """
        try:
            result = calibrate(views, self.board, self._intrinsics, self.guess.mounting, replace(limits, shift_sigma=np.inf, turn_sigma=np.inf))
        except DeskhandError:
            return 0  # the caller solves, and says why
        over = max(result.shift_sigma / limits.shift_sigma, result.turn_sigma / limits.turn_sigma)
        return math.ceil(len(views) * over**2) if 1 < over < HOPELESS else 0

    def _first_look(self, rng: np.random.Generator) -> None:
        """See the board from where the arm stands; a wrist camera looks for it on the desk where it does not."""
        self._intrinsics = self.robot.observe().intrinsics
        if self._measured() or self.guess.mounting == "fixed":
            return
        self.progress("the board is not seen from where the arm stands; the arm looks for it on the desk")
        refusals = []
        for place in lying_places(self.model.arm, self.board):
            guess = replace(self.guess, board=place)
            try:
                poses = pose_set(self.model, guess, self.board, self._intrinsics, LOOKS, rng, self._free)
            except DeskhandError as error:
                refusals.append(error)
                continue
            if any(self._go(joints) and self._measured() for joints in poses):
                return
        if len(refusals) == len(lying_places(self.model.arm, self.board)):
            raise refusals[0]
        raise DeskhandError(
            "calibration_failed",
            f"the wrist camera does not find the board {self.board.name} on the desk.",
            hint="Lay it flat before the arm, face up, where the arm would pick objects up. Is it this board, and the camera in focus and lit?",
        )

    def _measured(self) -> bool:
        """Whether the board is seen now; where it is is known from then on."""
        frame = self.robot.observe()
        seen = self.board.pose(self.board.find(frame.color), frame.intrinsics)
        if seen is None:
            return False
        hand = self._hand(self._told(self.robot.joint_state()))
        move = inverse(hand) if self.guess.mounting == "fixed" else hand
        self.guess = replace(self.guess, board=move @ self.guess.camera @ seen)
        return True

    def _hand(self, joints: Joints) -> Array:
        """world_T_hand; see Guess."""
        return self.model.forward(joints)[self.guess.link or self.model.arm.tcp]

    def _learn(self, views: list[HandView]) -> None:
        if len(views) < FEWEST_VIEWS:
            return
        try:
            result = calibrate(views, self.board, self._intrinsics, self.guess.mounting, LOOSE)
        except DeskhandError as error:
            log.info("the guess stays: %s", error)
            return
        self.guess = replace(self.guess, camera=result.camera, board=result.board)

    def _free(self, joints: Joints) -> bool:
        return self.robot.check_state(joints).valid

    def _take_board(self, rng: np.random.Generator) -> None:
        """Go to where there is room for the board, let a person put it between the fingers, and know from then on that it is in the way."""
        poses = pose_set(self.model, self.guess, self.board, self._intrinsics, FIRST, rng, self._free)
        if not any(self._go(joints) for joints in poses):
            raise DeskhandError("calibration_failed", "the arm can get to no pose from which the board would be seen.", hint="Is the desk clear?")
        gripper = self.model.arm.gripper
        self.robot.gripper(gripper.width_max)
        self.hand_over("Put the board between the open fingers: they hold the middle of its lower edge, its face towards the camera.")
        self.robot.gripper(gripper.width_min)
        width, height = self.board.size
        middle = make_transform(None, [width / 2, height / 2, PLATE_THICKNESS / 2])
        plate = Shape("box", (width, height, PLATE_THICKNESS))
        pose = self.robot.tcp_pose() @ self.guess.board @ middle
        self.robot.update_scene(SceneUpdate(add=(CollisionObject(PLATE, (plate,), pose),), attach=PLATE))

    def _go(self, joints: Joints) -> bool:
        """False when the planner finds no way there."""
        try:
            plan = self.robot.plan_motion(MotionGoal(joints=joints), PlanOptions(speed_scale=SPEED))
        except DeskhandError as error:
            if error.code in ("safety_stop", "node_unavailable", "stale_data"):
                raise
            self.progress(f"a pose is left out: {error.message}")
            return False
        try:
            report = self.robot.execute(plan.id)
        except DeskhandError as error:
            if error.code != "plan_expired":
                raise
            self.progress(f"a pose is left out: {error.message}")
            return False
        if report.code == "stale_data":  # a cable or a busy machine; the arm was halted where it was, and the next plan begins there
            self.progress(f"a pose is left out: {report.message}")
            self.robot.sleep(SETTLE)
            return False
        if not report.ok:
            raise DeskhandError(report.code, f"the arm did not get to a pose of the calibration: {report.message}")
        self.robot.sleep(SETTLE)
        return True

    def _picture(self, joints: Joints) -> HandView | None:
        """None when the arm cannot get there or the board is not seen from there."""
        if not self._go(joints):
            return None
        frame = self.robot.observe()
        told = self._told(self.robot.joint_state())
        corners = self.board.find(frame.color)
        if self.board.pose(corners, frame.intrinsics) is None:
            self.progress("the board is not seen from here")
            return None
        return HandView(self._hand(told), corners, scatter(self.model, told, self.guess.link))

    @staticmethod
    def _told(state: JointState) -> Joints:
        return dict(zip(state.names, map(float, state.positions), strict=True))
