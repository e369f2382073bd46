"""Hand-eye calibration: exact on exact numbers, good on rendered pictures with joints that are not where they say, and bad sets refused."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from deskhand.arms.config import load_arm
from deskhand.arms.model import RobotModel
from deskhand.calibration.board import Board, Corners
from deskhand.calibration.handeye import HandView, Limits, calibrate
from deskhand.calibration.poses import Guess, default_board, held_board, link_poses, lying_board, pose_set, scatter, well_seen
from deskhand.cameras.config import load_camera
from deskhand.errors import DeskhandError
from deskhand.geometry import inverse, make_transform, rotation_about, rotation_angle, transform_points
from deskhand.types import CameraIntrinsics

LENS = CameraIntrinsics(640, 480, 537.0, 537.0, 319.5, 239.5)
BOARD = Board()
ON_DESK = make_transform(np.diag([1.0, -1.0, -1.0]), [-0.14, 0.12, 0.0])


def guess_of(mounting, arm="wx250s", board=BOARD):
    mount = load_camera(mounting, arm)
    if mounting == "fixed":
        return Guess(mounting, mount.pose, held_board(board))
    return Guess(mounting, mount.pose, ON_DESK if arm == "wx250s" else lying_board(load_arm(arm), board), mount.parent)


def views_of(mounting, count=16, seed=0, joint_noise=0.0, pixel_noise=0.0, arm="wx250s", scale=1.0, board=BOARD):
    """Views without pictures: corners projected, through a camera that is off from where it was meant to be; and its true pose."""
    rng, model, guess = np.random.default_rng(seed), RobotModel.load(arm), guess_of(mounting, arm, board)
    camera = guess.camera @ make_transform(rotation_about(rng.normal(size=3), 0.05), rng.normal(0, 0.01, 3))
    moved = guess.board @ make_transform(rotation_about(rng.normal(size=3), 0.05), rng.normal(0, 0.004, 3))
    true = Guess(mounting, camera, moved, guess.link)
    views = []
    for joints in pose_set(model, guess, board, LENS, count, rng, lambda _: True):
        told = {name: value + rng.normal(0, joint_noise) for name, value in joints.items()}
        points = transform_points(true.camera_T_board(hand_of(model, joints, guess)), board.points * scale)
        pixels = points[:, :2] / points[:, 2:] * LENS.fx + [LENS.cx, LENS.cy] + rng.normal(0, pixel_noise, (len(points), 2))
        views.append(HandView(hand_of(model, told, guess), Corners(np.arange(len(points)), pixels), scatter(model, told, guess.link)))
    return views, camera


def hand_of(model, joints, guess):
    return model.forward(joints)[guess.link or model.arm.tcp]


def errors(result, camera):
    return np.linalg.norm((inverse(camera) @ result.camera)[:3, 3]), rotation_angle(camera, result.camera)


@pytest.mark.parametrize("mounting", ["fixed", "wrist"])
def test_exact_views_give_the_exact_camera(mounting):
    views, camera = views_of(mounting, 12)
    shift, turn = errors(calibrate(views, BOARD, LENS, mounting), camera)
    assert shift < 1e-5 and turn < 1e-5


def test_an_arm_with_five_joints_can_be_calibrated_too():
    views, camera = views_of("fixed", 20, arm="jetarm", joint_noise=np.radians(0.05), pixel_noise=0.1)
    shift, turn = errors(calibrate(views, BOARD, LENS, "fixed"), camera)
    assert shift < 0.002 and turn < np.radians(0.3)


@pytest.mark.parametrize("arm", ["jetarm", "so101"])
def test_wrist_cameras_of_small_arms_are_found_where_their_own_files_have_them(arm):
    board = Board.parse(default_board(load_arm(arm), "wrist"))
    views, camera = views_of("wrist", 20, arm=arm, board=board, joint_noise=np.radians(0.05), pixel_noise=0.1)
    shift, turn = errors(calibrate(views, board, LENS, "wrist"), camera)
    assert len(views) == 20 and shift < 0.002 and turn < np.radians(0.3)


def test_a_wrist_camera_that_does_not_turn_with_the_last_joint_is_found_too():
    """On a link before the roll of the hand: only the joints before it move the camera."""
    arm = load_arm("jetarm")
    board, model, rng = Board.parse(default_board(arm, "wrist")), RobotModel.load(arm), np.random.default_rng(2)
    joints = model.arm_joints(arm.named_poses["home"])
    links = model.forward(joints)
    nominal = inverse(links["link4"]) @ links["tcp"] @ load_camera("wrist", "jetarm").pose
    camera = nominal @ make_transform(rotation_about([1, 1, 0], 0.05), [0.01, -0.01, 0.005])
    guess = Guess("wrist", nominal, lying_board(arm, board), "link4")
    true, views = Guess("wrist", camera, guess.board, "link4"), []
    for joints in pose_set(model, guess, board, LENS, 20, rng, lambda _: True):
        points = transform_points(true.camera_T_board(hand_of(model, joints, guess)), board.points)
        pixels = points[:, :2] / points[:, 2:] * LENS.fx + [LENS.cx, LENS.cy] + rng.normal(0, 0.1, (len(points), 2))
        views.append(HandView(hand_of(model, joints, guess), Corners(np.arange(len(points)), pixels), scatter(model, joints, "link4")))
    shift, turn = errors(calibrate(views, board, LENS, "wrist"), camera)
    assert shift < 0.002 and turn < np.radians(0.3)


def test_an_arm_without_room_says_why():
    arm, board = load_arm("jetarm"), Board(7, 9, 0.05, 0.035)
    guess = Guess("wrist", load_camera("wrist", "jetarm").pose, lying_board(arm, board), "tcp")
    with pytest.raises(DeskhandError, match=r"of \d+ poses.* %") as caught:
        pose_set(RobotModel.load(arm), guess, board, LENS, 4, np.random.default_rng(0), lambda _: True)
    assert "--board 5x7@20/15mm" in caught.value.hint


def test_the_jetarms_camera_is_where_the_vendor_has_it():
    """Vendor: tool -> optical [[0,0,1,-0.101],[-1,0,0,0],[0,-1,0,0.045]], the tool's x out of the gripper and its z up when the hand is level."""
    model, mount = RobotModel.load("jetarm"), load_camera("wrist", "jetarm")
    level = model.arm_joints([0, -np.pi / 2, np.pi / 2, -np.pi / 2, 0])
    links = model.forward(level)
    tool = links["tcp"]
    assert np.allclose(tool[:3, 2], [1, 0, 0], atol=1e-9)
    vendor = make_transform(np.eye(3), tool[:3, 3]) @ np.array([[0, 0, 1, -0.101], [-1, 0, 0, 0], [0, -1, 0, 0.045], [0, 0, 0, 1]])
    assert np.allclose(links[mount.parent] @ mount.pose, vendor, atol=1e-6)


def test_wrist_means_the_arms_own_camera_where_it_has_one():
    assert load_camera("wrist", "so101").parent == "gripper_link" and load_camera("wrist", "jetarm").parent == "tcp"
    assert np.allclose(load_camera("wrist", "wx250s").pose, load_camera("wrist").pose)
    assert np.allclose(load_camera("fixed", "jetarm").pose, load_camera("fixed").pose)


def test_a_picture_taken_while_the_arm_moved_is_left_out():
    views, camera = views_of("fixed", 16, joint_noise=np.radians(0.05), pixel_noise=0.1)
    views[3] = HandView(views[3].world_T_hand @ make_transform(rotation_about([1, 0, 0], 0.2), [0.05, 0, 0]), views[3].corners, views[3].scatter)
    result = calibrate(views, BOARD, LENS, "fixed")
    shift, turn = errors(result, camera)
    assert 3 not in result.used and len(result.used) == 15 and shift < 0.002 and turn < np.radians(0.3)


def alike(views):
    first = views[0].world_T_hand
    return [view for view in views if rotation_angle(first, view.world_T_hand) < 3.2][:1] * 12


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda views, rng: views[:5], "are needed"),
        (lambda views, rng: alike(views), "too alike"),
        (
            lambda views, rng: [
                HandView(make_transform(None, rng.uniform(-0.1, 0.1, 3)) @ views[0].world_T_hand, view.corners, view.scatter) for view in views
            ],
            "too alike",
        ),
        (
            lambda views, rng: [HandView(view.world_T_hand @ make_transform(None, rng.normal(0, 0.01, 3)), view.corners, view.scatter) for view in views],
            "contradict",
        ),
        (
            lambda views, rng: [HandView(view.world_T_hand, other.corners, view.scatter) for view, other in zip(views, views[1:] + views[:1], strict=True)],
            "contradict",
        ),
        (lambda views, rng: [HandView(v.world_T_hand, Corners(v.corners.ids[:3], v.corners.pixels[:3]), v.scatter) for v in views], "was found in 0 of 16"),
    ],
    ids=["too few", "one pose again and again", "never turned", "loose board", "pictures mixed up", "hardly seen"],
)
@pytest.mark.parametrize("mounting", ["fixed", "wrist"])
def test_bad_sets_are_refused_with_what_to_do(mounting, spoil, words):
    views, _ = views_of(mounting, 16)
    with pytest.raises(DeskhandError, match=words) as caught:
        calibrate(spoil(views, np.random.default_rng(1)), BOARD, LENS, mounting)
    assert caught.value.code == "calibration_failed" and caught.value.hint


@pytest.mark.parametrize("mounting", ["fixed", "wrist"])
def test_a_board_printed_too_large_is_noticed(mounting):
    views, _ = views_of(mounting, 24, scale=1.06)
    with pytest.raises(DeskhandError) as caught:
        calibrate(views, BOARD, LENS, mounting)
    assert caught.value.code == "calibration_failed"


@pytest.mark.parametrize("mounting", ["fixed", "wrist"])
def test_poses_see_the_board_keep_off_the_table_and_leave_out_what_is_not_free(mounting):
    model, guess = RobotModel.load("wx250s"), guess_of(mounting)
    forbidden = []

    def free(joints):
        forbidden.append(joints)
        return len(forbidden) % 2 == 0

    poses = pose_set(model, guess, BOARD, LENS, 8, np.random.default_rng(4), free)
    assert len(poses) == 8 and all(joints not in forbidden[::2] for joints in poses)
    for joints in poses:
        hand = model.tcp_pose(joints)
        assert well_seen(guess.camera_T_board(hand), BOARD, LENS) and hand[2, 3] > 0.04
        assert all(model.limits[name][0] <= value <= model.limits[name][1] for name, value in joints.items())


def test_a_camera_that_looks_away_is_said_to():
    guess = Guess("fixed", make_transform(None, [0, 0, 3.0]), held_board(BOARD))
    with pytest.raises(DeskhandError, match="no pose"):
        pose_set(RobotModel.load("wx250s"), guess, BOARD, LENS, 4, np.random.default_rng(0), lambda _: True)


def test_hands_are_computed_all_at_once_as_one_by_one():
    for arm in ("wx250s", "jetarm"):
        model = RobotModel.load(arm)
        samples = np.random.default_rng(0).uniform(-1, 1, (4, len(model.arm.joints)))
        expected = [model.tcp_pose(model.arm_joints(sample)) for sample in samples]
        assert np.allclose(link_poses(model, samples), expected)


@pytest.mark.parametrize(
    ("mounting", "seed", "arm"),
    [("fixed", 21, "wx250s"), ("wrist", 22, "wx250s"), pytest.param("wrist", 23, "jetarm", marks=pytest.mark.long), ("wrist", 24, "so101")],
)
def test_rendered_boards_and_noisy_joints_give_the_camera_within_2_mm_and_03_degrees(mounting, seed, arm):
    pytest.importorskip("mujoco")
    from deskhand.bench.calibration.handeye import rehearse

    result = rehearse(mounting, [seed], count=24, joint_noise=np.radians(0.1), arm=arm)[0]
    assert result.shift < 0.002 and result.turn < np.radians(0.3)
    assert result.shift < 2.5 * result.result.shift_sigma and result.turn < 2.5 * result.result.turn_sigma  # what it says of itself is true
    assert np.radians(0.07) < result.result.joint_sigma < np.radians(0.13)


@pytest.mark.parametrize("mounting", ["fixed", "wrist"])
def test_what_it_says_of_itself_holds_for_other_joints_and_other_corners(mounting):
    """Three times the scatter is told as three times the uncertainty, and errors lie within twice of it."""
    limits = Limits(shift=1.0, turn=1.0, shift_sigma=1.0, turn_sigma=1.0)
    told, within = [], []
    for joint, pixel in ((0.03, 0.05), (0.09, 0.15)):
        results = []
        for seed in range(4):
            views, camera = views_of(mounting, 12, seed, np.radians(joint), pixel)
            result = calibrate(views, BOARD, LENS, mounting, limits)
            shift, turn = errors(result, camera)
            within += [shift < 2 * result.shift_sigma, turn < 2 * result.turn_sigma]
            results.append(result.shift_sigma)
        told.append(np.mean(results))
    assert np.mean(within) >= 0.9 and told[1] / told[0] == pytest.approx(3.0, rel=0.25)


def test_a_hand_scatters_as_its_joints_let_it():
    model, rng = RobotModel.load("wx250s"), np.random.default_rng(5)
    joints = dict(zip(model.arm.joints, rng.uniform(-0.6, 0.6, 6), strict=True))
    hands = link_poses(model, np.array(list(joints.values())) + rng.normal(0, 1e-3, (4000, 6)))
    off = inverse(model.tcp_pose(joints)) @ hands
    seen = np.cov(np.column_stack([Rotation.from_matrix(off[:, :3, :3]).as_rotvec(), off[:, :3, 3]]).T) / 1e-6
    assert np.allclose(seen, scatter(model, joints), atol=0.08 * np.abs(seen).max())
