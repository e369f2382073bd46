import numpy as np
import pytest

from deskhand.errors import DeskhandError
from deskhand.motion.executor import Executor, Tolerances
from deskhand.motion.timing import differences, time_path
from deskhand.testing.motion_desk import MODEL, MotionDesk, code_of, down, make_desk
from deskhand.types import MotionGoal, Plan, PlanOptions, SafetyStatus


def moving() -> tuple[MotionDesk, Plan]:
    desk = make_desk()
    return desk, desk.service.plan_motion(MotionGoal(poses=(down(0, 0.1, 0.1),)), PlanOptions(speed_scale=0.5))


def test_a_followed_plan_reports_success_and_progress() -> None:
    desk, plan = moving()
    seen: list[float] = []
    report = Executor(desk.arm, desk.clock, MODEL).execute(plan, lambda fraction, _: seen.append(fraction))
    assert report.ok and report.progress == 1.0
    assert report.final_error < 0.01
    assert plan.trajectory.duration <= report.duration < plan.trajectory.duration + 0.3
    assert seen == sorted(seen) and seen[-1] == 1.0
    assert desk.arm.cancels == 0


@pytest.mark.parametrize(
    ("fault", "code"), [("held_from", "stalled"), ("offset_from", "tracking_error"), ("silent_from", "stale_data"), ("fails_at", "controller_failed")]
)
def test_what_goes_wrong_halts_the_arm_and_is_named(fault: str, code: str) -> None:
    desk, plan = moving()
    setattr(desk.arm, fault, plan.trajectory.duration / 2)
    report = Executor(desk.arm, desk.clock, MODEL).execute(plan)
    assert report.code == code
    assert desk.arm.cancels >= 1 and desk.arm.trajectory is None
    assert report.duration < plan.trajectory.duration / 2 + 1.2
    assert 0.2 < report.progress < 0.95
    assert "halted at" in report.message


def test_an_arm_that_must_go_slower_arrives_later_and_one_that_does_not_say_so_is_halted() -> None:
    desk, plan = moving()
    desk.arm.pace = 0.5
    report = Executor(desk.arm, desk.clock, MODEL).execute(plan)
    assert report.ok and report.max_tracking_error < 0.05
    assert report.duration > 1.9 * plan.trajectory.duration
    desk, plan = moving()
    desk.arm.pace, desk.arm.tells_pace = 0.3, False
    assert Executor(desk.arm, desk.clock, MODEL).execute(plan).code == "tracking_error"


@pytest.mark.parametrize("late", [0.6, 1.5])
def test_joint_states_that_come_late_are_no_stall(late: float) -> None:
    """A simulation at many times real time: what comes is of a second ago, by the clock."""
    desk, plan = moving()
    desk.arm.told_late = late
    report = Executor(desk.arm, desk.clock, MODEL, tolerances=Tolerances(stale=3.0)).execute(plan)
    assert report.ok and report.max_tracking_error < 0.02
    desk, plan = moving()
    desk.arm.told_late, desk.arm.held_from = late, plan.trajectory.duration / 2
    assert Executor(desk.arm, desk.clock, MODEL, tolerances=Tolerances(stale=3.0)).execute(plan).code == "stalled"


def test_an_arm_that_pushes_against_something_is_halted_sooner_than_a_stall() -> None:
    desk, plan = moving()
    desk.arm.held_from = plan.trajectory.duration / 2
    stalled = Executor(desk.arm, desk.clock, MODEL).execute(plan)
    desk, plan = moving()
    desk.arm.held_from = plan.trajectory.duration / 2
    ahead = plan.trajectory.positions[-1] - plan.trajectory.sample(plan.trajectory.duration / 2)
    limits = np.array([MODEL.limits[name][3] for name in plan.trajectory.joint_names])
    desk.arm.efforts = np.concatenate([np.sign(ahead) * limits, np.zeros(2)])
    report = Executor(desk.arm, desk.clock, MODEL).execute(plan)
    assert report.code == "contact" and "run into" in report.message
    assert report.duration < stalled.duration
    # All that force, and still on the way: no contact.
    desk, plan = moving()
    desk.arm.efforts = np.concatenate([limits, np.zeros(2)])
    assert Executor(desk.arm, desk.clock, MODEL).execute(plan).ok


def test_cancel_halts_within_a_tenth_of_a_second_and_says_where() -> None:
    desk, plan = moving()
    at = plan.trajectory.duration / 3
    cancelled_at: list[float] = []
    cancel = desk.arm.cancel
    desk.arm.cancel = lambda: (cancelled_at.append(desk.clock.now()), cancel())[1]  # type: ignore[method-assign]
    report = Executor(desk.arm, desk.clock, MODEL).execute(plan, cancelled=lambda: desk.clock.now() > at)
    assert report.code == "cancelled"
    assert cancelled_at[0] < at + 0.1
    position = MODEL.tcp_pose(MODEL.arm_joints(desk.arm.joints))[:3, 3]
    assert "({:.3f}, {:.3f}, {:.3f})".format(*position) in report.message


def test_a_stop_in_motion_halts_and_one_before_refuses() -> None:
    desk, plan = moving()
    stopped = SafetyStatus(True, "watchdog", "node perception is dead")
    report = Executor(desk.arm, desk.clock, MODEL, lambda: stopped if desk.clock.now() > 0.4 else SafetyStatus(False)).execute(plan)
    assert report.code == "watchdog" and "perception" in report.message
    assert desk.arm.cancels == 1
    desk, plan = moving()
    assert code_of(Executor(desk.arm, desk.clock, MODEL, lambda: stopped).execute, plan) == "watchdog"
    assert desk.arm.trajectory is None


def test_an_arm_that_ends_short_is_not_a_success() -> None:
    desk, plan = moving()
    desk.arm.held_from = plan.trajectory.duration - 0.35
    report = Executor(desk.arm, desk.clock, MODEL).execute(plan)
    assert report.code in ("stalled", "tracking_error")
    assert report.final_error > 0.04


def test_timing_keeps_limits_of_any_path() -> None:
    rng = np.random.default_rng(3)
    limits = np.array([1.0, 2, 3, 3, 3, 3]), np.array([2.0, 3, 5, 5, 5, 5])
    for _ in range(40):
        path = np.cumsum(rng.uniform(-1, 1, (int(rng.integers(2, 9)), 6)) * rng.choice([0.002, 0.1, 1.0]), axis=0)
        scale = float(rng.choice([0.1, 0.5, 1.0]))
        trajectory = time_path("abcdef", path, *limits, speed_scale=scale)
        velocity, acceleration = differences(trajectory)
        assert (velocity <= limits[0] * scale * 1.0001).all() and (acceleration <= limits[1] * scale * 1.0001).all()
        np.testing.assert_allclose(trajectory.positions[[0, -1]], path[[0, -1]], atol=1e-9)
        assert np.abs(trajectory.velocities[[0, -1]]).max() == 0
        # Smooth: never from standing to the limit within 10 ms.
        assert (np.abs(np.diff(trajectory.accelerations, axis=0)).max(axis=0) <= limits[1] * scale * 0.75).all()


def test_timing_is_not_much_slower_than_the_limits_ask() -> None:
    trajectory = time_path("a", np.array([[0.0], [2.0]]), np.array([np.pi]), np.array([5.0]))
    assert 2 * np.sqrt(2 / 5) <= trajectory.duration < 2 * np.sqrt(2 / 5) + 0.3


def test_a_clock_that_jumps_halts_the_arm_and_says_so() -> None:
    desk, plan = moving()
    sleep = desk.clock.sleep

    def jumping(seconds: float) -> None:
        if desk.clock.now() > desk.arm.started + plan.trajectory.duration / 2 and desk.arm.trajectory is not None:
            raise DeskhandError("clock_jumped", "ROS time went from 40.00 to 10.00 s.")
        sleep(seconds)

    desk.clock.sleep = jumping  # type: ignore[method-assign]
    report = Executor(desk.arm, desk.clock, MODEL).execute(plan)
    assert report.code == "clock_jumped" and desk.arm.cancels >= 1
    assert 0.2 < report.progress < 0.95
