"""Scenarios of the unit image_quality."""

from __future__ import annotations

from itertools import pairwise

import cv2
import numpy as np
import numpy.typing as npt

from deskhand.bench.tools.base import Measured, scenario
from deskhand.bench.tools.desk import ScenarioDesk
from deskhand.etp.resources import DEPTH
from deskhand.geometry import inverse, make_transform, rotation_about, transform_points


@scenario(tool="check_picture", name="blur_in_order", situation="The camera's picture is blurred more and more (0 to 4 px): the measure must rise with it.")
def blur_in_order(desk: ScenarioDesk) -> Measured:
    image = desk.frame().color
    pictures = [image] + [cv2.GaussianBlur(image, (0, 0), sigma) for sigma in (1.0, 2.0, 3.0, 4.0)]
    given = [desk.call("check_picture", {"picture": desk.keep(picture)}) for picture in pictures]
    steps = [b["blur"] - a["blur"] for a, b in pairwise(given)]
    told = given[0]["usable"] and not given[3]["usable"]
    return Measured(min(steps) if told else float("nan"), "smallest rise of the measure from step to step", at_least=0.02)


@scenario(tool="check_picture", name="right_problem", situation="Pictures that are good, dark, bright, blurred or noisy: is exactly this told?")
def right_problem(desk: ScenarioDesk) -> Measured:
    random, image = desk.random, desk.frame().color
    noisy = np.clip(image + random.normal(0, 20, image.shape), 0, 255).astype(np.uint8)
    spoiled = {
        "": image,
        "dark": (image * 0.15).astype(np.uint8),
        "bright": np.clip(image.astype(float) * 2.2, 0, 255).astype(np.uint8),
        "blurred": cv2.GaussianBlur(image, (0, 0), 4.0),
        "noisy": noisy,
    }
    right = 0
    for word, picture in spoiled.items():
        problems = desk.call("check_picture", {"picture": desk.keep(picture)})["problems"]
        right += (not problems) if not word else any(word in text for text in problems)
    return Measured(right / len(spoiled), "share of pictures judged right", at_least=1.0)


@scenario(tool="check_picture", name="noise", situation="Noise of 6 to 20 of 255 is added to a smooth picture: the error of what is measured of it.")
def noise(desk: ScenarioDesk) -> Measured:
    random = desk.random
    smooth = np.repeat(np.linspace(60, 190, 640)[None], 480, axis=0)
    strength = float(random.uniform(6, 20))
    picture = np.clip(smooth + random.normal(0, strength, smooth.shape), 0, 255).astype(np.uint8)
    given = desk.call("check_picture", {"picture": desk.keep(np.stack([picture] * 3, axis=-1))})
    return Measured(abs(given["noise"] - strength), "error of the standard deviation, of 255", at_most=1.0)


@scenario(tool="check_depth", name="holes", situation="A known tenth of the true depth is taken away at random: the error of the share that is told.")
def holes(desk: ScenarioDesk) -> Measured:
    depth = desk.true_picture()[1].copy()
    depth[desk.random.random(depth.shape) < 0.1] = np.nan
    given = desk.call("check_depth", {"depth": desk.keep(depth, DEPTH)})
    return Measured(abs(given["holes"] - float(np.isnan(depth).mean())), "error of the share of holes", at_most=0.001)


def tilted(desk: ScenarioDesk, angle: float, up: float) -> np.ndarray:
    """The desk's plane as the camera would measure it if its pose were off by a turn about world y and a shift up."""
    frame = desk.frame()
    k = frame.intrinsics
    plane = make_transform(rotation_about([0, 1, 0], angle), [0, 0, up])
    camera_T_plane = inverse(frame.world_T_camera) @ plane
    normal, origin = camera_T_plane[:3, 2], camera_T_plane[:3, 3]
    v, u = np.mgrid[0 : k.height, 0 : k.width]
    rays = np.stack([(u - k.cx) / k.fx, (v - k.cy) / k.fy, np.ones_like(u, float)], axis=-1)
    depth = (normal @ origin) / (rays @ normal)
    world = transform_points(frame.world_T_camera, rays * depth[..., None])
    depth[np.abs(world[..., :2]).max(axis=-1) > 0.45] = np.nan
    return depth.astype(np.float32)


@scenario(
    tool="check_depth",
    name="tilt",
    situation="The camera's pose is off by a tilt of 1.5 to 4 degrees: the error of the tilt that is told, and whether it says to calibrate.",
)
def tilt(desk: ScenarioDesk) -> Measured:
    angle = float(desk.random.uniform(1.5, 4.0))
    depth = tilted(desk, np.deg2rad(angle), 0.005)
    given = desk.call("check_depth", {"depth": desk.keep(depth, DEPTH)})
    told = any("calibrate" in text.lower() for text in given["problems"])
    return Measured(abs(np.rad2deg(given["table_tilt"]) - angle) if told else float("nan"), "deg error of the tilt", at_most=0.1)


@scenario(tool="check_depth", name="noise_of_table", situation="Noise of 2 to 5 mm is put on a plane: the error of what is told of it.")
def noise_of_table(desk: ScenarioDesk) -> Measured:
    depth = tilted(desk, 0.0, 0.0)
    frame = desk.frame()
    k = frame.intrinsics
    v, u = np.mgrid[0 : k.height, 0 : k.width]
    rays = np.stack([(u - k.cx) / k.fx, (v - k.cy) / k.fy, np.ones_like(u, float)], axis=-1) @ frame.world_T_camera[:3, :3].T
    strength = float(desk.random.uniform(0.002, 0.005))
    noisy = depth + desk.random.normal(0, strength, depth.shape).astype(np.float32) / np.abs(rays[..., 2]).astype(np.float32)
    given = desk.call("check_depth", {"depth": desk.keep(noisy.astype(np.float32), DEPTH)})
    return Measured(1000 * abs(given["table_noise"] - strength), "mm error of the standard deviation", at_most=0.4)


def light(desk: ScenarioDesk, share: float) -> float:
    """Turn all lights down to a share of what they are. The simulated time [s] at which they are."""
    model = desk.simulation.model
    with desk.simulation.lock:
        for strength in (model.light_diffuse, model.light_ambient, model.light_specular, model.vis.headlight.ambient, model.vis.headlight.diffuse):
            strength[:] = strength * share
        return desk.simulation.time


@scenario(tool="watch_picture", name="light_out", situation="The light goes out and comes back: the time until each is told.")
def light_out(desk: ScenarioDesk) -> Measured:
    heard = desk.watch("watch_picture")
    begun = light(desk, 0.05)
    bad = heard.wait(1.0)
    again = light(desk, 20.0)
    good = heard.wait(1.0)
    heard.stop()
    kinds = [event["kind"] for _, event in bad + good]
    right = kinds == ["bad", "good"] and "dark" in bad[0][1]["problems"][0]
    return Measured(max(bad[0][0] - begun, good[0][0] - again) if right else float("nan"), "s until it was told", at_most=0.3)


@scenario(tool="watch_picture", name="all_well", situation="Two seconds in which objects move but the pictures stay good.")
def all_well(desk: ScenarioDesk) -> Measured:
    heard = desk.watch("watch_picture")
    desk.push("can", (0.0, -0.2, 0.0))
    heard.let_pass(2.0)
    return Measured(len(heard.stop()), "events", equal=0)


@scenario(
    tool="enhance_picture",
    name="dark_and_grainy",
    situation="A picture was made dark and noisy: how much nearer to the original do the filters bring it?",
)
def dark_and_grainy(desk: ScenarioDesk) -> Measured:
    original = desk.frame().color
    noise = desk.random.normal(0, 12, original.shape)
    spoilt = np.clip(original * 0.35 + noise, 0, 255).astype(np.uint8)
    given = desk.call("enhance_picture", {"picture": desk.keep(spoilt), "filters": ["denoise", "exposure"], "strength": 1.0})

    def unlike(image: npt.NDArray[np.uint8]) -> float:
        """Structure alone: rms after brightness and contrast are made the same."""
        grey = [one.astype(float).mean(axis=-1) for one in (original, image)]
        grey = [(one - one.mean()) / one.std() for one in grey]
        return float(np.sqrt(np.mean((grey[0] - grey[1]) ** 2)))

    return Measured(unlike(desk.fetch(given["picture"])) / unlike(spoilt), "times the error of the spoilt picture", at_most=0.75)


@scenario(tool="enhance_picture", name="tint", situation="A picture is tinted by known gains of red and blue: what is left of the tint after white balance?")
def tint(desk: ScenarioDesk) -> Measured:
    original = desk.frame().color
    tinted = np.clip(original * np.array([1.0, desk.random.uniform(0.75, 0.82), desk.random.uniform(0.5, 0.6)]), 0, 255).astype(np.uint8)
    given = desk.call("enhance_picture", {"picture": desk.keep(tinted), "filters": ["white_balance"], "strength": 1.0})
    means = [one.reshape(-1, 3).astype(float).mean(axis=0) for one in (original, tinted, desk.fetch(given["picture"]))]
    casts = [float(np.ptp(mean / mean.mean() - means[0] / means[0].mean())) for mean in means[1:]]
    return Measured(casts[1] / casts[0], "of the tint", at_most=0.4)
