"""Grasps from a predictor elsewhere (AnyGrasp, Contact-GraspNet, your own network) over HTTP and JSON; docs/grasping.md describes both messages.

What it proposes is held to the same tests as our own candidates: it must close on the object, touch nothing, be reached; and its success probability is
told by the same model, so that scores mean the same whoever proposed the grasp.
"""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from deskhand.arms.config import ArmConfig
from deskhand.arms.gripper import GripperConfig
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, check_pose, make_transform
from deskhand.grasping.collision import closing, opening
from deskhand.grasping.generator import GraspGenerator, Reach, support_height
from deskhand.grasping.sampling import FRICTION, Candidates
from deskhand.perception.fit.surface import Surface
from deskhand.types import Scene, SceneObject

MOST_PROPOSED = 400
LONGEST = 16_000_000  # bytes of an answer


class RemoteGraspGenerator(GraspGenerator):
    """A :class:`GraspGenerator` whose candidates come from ``url``.

    Args:
        arm: as for GraspGenerator.
        url: ``http://`` or ``https://``, asked with POST.
        reach: as for GraspGenerator.
        timeout: of a request [s].
    """

    def __init__(self, arm: ArmConfig, url: str, reach: Reach | None = None, timeout: float = 10.0) -> None:
        super().__init__(arm, reach)
        if not url.startswith(("http://", "https://")):
            raise DeskhandError("config_error", f"the grasp predictor's address must begin with http:// or https://, got {url!r}.")
        self._url, self._timeout = url, timeout

    def _candidates(self, scene: Scene, item: SceneObject, surface: Surface) -> Candidates:
        answer = self._ask(request_of(scene, item, surface, self._gripper))
        poses = proposals_of(answer, self._url)
        if not len(poses):
            raise DeskhandError("no_grasp", f"the grasp predictor proposes none for {item.id}.")
        return _with_contacts(poses, surface, self._gripper)

    def _ask(self, message: dict[str, Any]) -> Any:
        request = urllib.request.Request(self._url, json.dumps(message).encode(), {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=self._timeout) as answer:
                return json.loads(answer.read(LONGEST))
        except urllib.error.HTTPError as error:
            raise self._failed(f"answered {error.code}: {error.read(300).decode('utf-8', 'replace')}") from error
        except (OSError, http.client.HTTPException) as error:
            raise self._failed(f"cannot be asked: {getattr(error, 'reason', None) or error}") from error
        except ValueError as error:
            raise self._failed("did not answer with JSON") from error

    def _failed(self, what: str) -> DeskhandError:
        return DeskhandError(
            "model_failed", f"the grasp predictor at {self._url} {what}.", hint="See that it runs; without an address the built-in candidates are used."
        )


def make_generator(arm: ArmConfig, reach: Reach | None = None, predictor: str = "") -> GraspGenerator:
    """The built-in generator, or one that asks the predictor at this address."""
    return RemoteGraspGenerator(arm, predictor, reach) if predictor else GraspGenerator(arm, reach)


def request_of(scene: Scene, item: SceneObject, surface: Surface, gripper: GripperConfig) -> dict[str, Any]:
    """What is sent: points in ``world`` [m], of the object as seen and completed and of all objects, and the gripper's measures."""
    return {
        "version": 1,
        "object": {"id": item.id, "label": item.label, "pose": item.pose.tolist(), "size": np.asarray(item.size, dtype=float).tolist()},
        "seen": np.round(np.asarray(item.points, dtype=float), 5).tolist(),
        "completed": np.round(surface.body, 5).tolist(),
        "scene": np.round(np.asarray(scene.cloud, dtype=float), 5).tolist(),
        "support_height": support_height(scene, item),
        "gripper": {"width_min": gripper.width_min, "width_max": gripper.width_max, "finger_depth": gripper.finger_depth},
    }


def proposals_of(answer: Any, url: str) -> Array:
    """world_T_grasp (M, 4, 4), the middle between the pads, of ``{"grasps": [{"pose": 4x4, "score": …}, …]}``, best first.

    Raises:
        DeskhandError: ``model_failed`` naming the entry that is wrong.
    """
    grasps = answer.get("grasps") if isinstance(answer, dict) else None
    if not isinstance(grasps, list):
        raise DeskhandError("model_failed", f'the grasp predictor at {url} answered without a list "grasps".')
    poses, scores = [], []
    for number, grasp in enumerate(grasps):
        try:
            poses.append(check_pose(np.array(grasp["pose"], dtype=float)))
            scores.append(float(grasp.get("score", 0.0)))
        except (KeyError, TypeError, ValueError, AttributeError, DeskhandError) as error:
            raise DeskhandError("model_failed", f"the grasp predictor at {url} answered with a broken grasps[{number}]: {error}.") from error
    order = np.argsort(-np.array(scores), kind="stable")[:MOST_PROPOSED]
    return np.array(poses, dtype=float).reshape(-1, 4, 4)[order]


def _with_contacts(poses: Array, surface: Surface, gripper: GripperConfig) -> Candidates:
    """Where the pads meet the completed object from a fully open hand, and the friction margin there.

    A pose is that of the middle between the open pads; with one turning jaw it may be taken from either side.
    """
    if gripper.one_sided:
        poses = np.concatenate([poses, poses @ np.diag([-1.0, -1.0, 1.0, 1.0])])
    poses = poses @ make_transform(translation=-gripper.tcp_offset(gripper.width_max))
    met = closing(poses, np.full(len(poses), gripper.width_max), gripper, surface.body)
    sides = np.stack([met.low, met.high], axis=1)
    contacts = poses[:, None, :3, 3] + sides[:, :, None] * poses[:, None, :3, 1]
    tree = cKDTree(surface.points)
    nearest = np.asarray(tree.query(contacts)[1])
    against = np.stack([-poses[:, :3, 1], poses[:, :3, 1]], axis=1)
    cosine = np.einsum("mkj,mkj->mk", surface.normals[nearest], against).min(axis=1)
    margins = np.arctan(FRICTION) - np.arccos(np.clip(cosine, -1.0, 1.0))
    margins = np.minimum(margins, np.arctan(FRICTION) - np.maximum(gripper.angle(met.width), 0.0))
    good = (met.width > gripper.width_min) & (opening(met.width, gripper) >= met.width) & (met.width <= gripper.widest(FRICTION))
    return Candidates(poses, contacts, met.width, margins).take(good)
