"""Fits the success model to explored picks, and measures how well its probabilities hold."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from scipy.optimize import minimize

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.grasping.features import NAMES
from deskhand.grasping.success import SuccessModel, load_success_model

RIDGE = 3.0  # strength of the pull of every weight towards what it was before
HARDLY = 0.05  # the same of the bias of hard scenes towards none
BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1.0)
ENOUGH = 60
HEAD = """# Probability that a pick succeeds: log odds = bias - sum of weight * feature; the features are described in src/deskhand/grasping/features.py.
# Fitted by `deskhand bench grasp --explore N --fit FILE` (docs/grasping.md): {what}.
"""


def samples(results: Sequence[dict[str, Any]]) -> tuple[Array, Array, Array]:
    """Features (N, len(NAMES)), outcomes (N,) and whether the scene was a hard one (N,), of all picks whose fingers closed."""
    picks = [(pick, result["job"].get("hard", False)) for result in results for pick in result["picks"] if pick["tried"] and pick["data"].get("features")]
    features = np.array([pick["data"]["features"] for pick, _ in picks], dtype=float).reshape(-1, len(NAMES))
    return features, np.array([bool(pick["success"]) for pick, _ in picks], dtype=float), np.array([hard for _, hard in picks], dtype=float)


def fit(features: Array, outcomes: Array, hard: Array | None = None) -> SuccessModel:
    """Most likely weights, none negative: every feature says what is wrong with a grasp. Where the picks tell little the weights in use stay.

    ``hard`` (N,) marks picks of hard scenes: they share the weights, while what makes them fail more often whatever the grasp (weight, slippery
    pads, noise) goes into a bias of their own, which is left out of the model.

    Raises:
        DeskhandError: ``invalid_input`` when there are too few picks, none that failed, or none of usual scenes to take the bias from.
    """
    if len(outcomes) < ENOUGH or not 0 < outcomes.mean() < 1:
        raise DeskhandError("invalid_input", f"{len(outcomes)} picks, {int((1 - outcomes).sum())} failed: at least {ENOUGH} are needed, and some of each kind.")
    hard = np.zeros(len(outcomes)) if hard is None else hard
    if hard.all():
        raise DeskhandError("invalid_input", "all picks are of hard scenes.", hint="Add some without --hard: they tell how often a usual pick succeeds.")
    before = load_success_model().weights

    def loss(x: Array) -> tuple[float, Array]:
        odds = np.clip(x[0] - x[1] * hard - features @ x[2:], -30, 30)
        error = 1 / (1 + np.exp(-odds)) - outcomes
        away = x[2:] - before
        value = float(np.logaddexp(0, odds).sum() - outcomes @ odds + RIDGE / 2 * away @ away + HARDLY / 2 * x[1] ** 2)
        return value, np.array([error.sum(), -error @ hard + HARDLY * x[1], *(-error @ features + RIDGE * away)])

    start = np.concatenate([[2.0, 0.0], before])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(None, None), (0.0, None), *[(0.0, None)] * len(NAMES)])
    return SuccessModel(float(found.x[0]), np.asarray(found.x[2:]))


def write(model: SuccessModel, file: Path, what: str) -> None:
    """Write a model as ``config/grasping.yaml`` is; ``what``: on which picks it was fitted."""
    data = {"success": {"bias": round(model.bias, 3), "weights": {name: round(float(weight), 3) for name, weight in zip(NAMES, model.weights, strict=True)}}}
    file.write_text(HEAD.format(what=what) + yaml.safe_dump(data, sort_keys=False))


def calibration(predicted: Array, outcomes: Array) -> dict[str, Any]:
    """How well probabilities (N,) foretold outcomes (N,): Brier score, that of always telling the mean, and success by predicted probability."""
    if not len(predicted):
        return {"picks": 0, "brier": None, "brier_of_mean": None, "curve": []}
    curve = []
    for low, high in itertools.pairwise(BINS):
        rows = (predicted >= low) & ((predicted < high) | (high == 1.0))
        if rows.any():
            curve.append(
                {"from": low, "to": high, "picks": int(rows.sum()), "predicted": float(predicted[rows].mean()), "success": float(outcomes[rows].mean())}
            )
    brier = float(np.mean((predicted - outcomes) ** 2))
    return {"picks": len(predicted), "brier": brier, "brier_of_mean": float(np.mean((outcomes.mean() - outcomes) ** 2)), "curve": curve}
