"""What objects mostly measure is known from real ones, not from the tasks that the robot is tried with."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from deskhand.types.resources import resource_path

NEAR = 0.0011  # [m] by which both ends of a range may differ and it still is that range
TASKS = sorted(Path(resource_path("config/tasks/desk_cleaning.yaml")).parent.glob("*.yaml"))


def _ranges(data: Any) -> list[tuple[float, float]]:
    """All [low, high] of lengths in a file, however deep."""
    if isinstance(data, dict):
        return [item for name, value in data.items() if name not in ("mass", "density") for item in _ranges(value)]
    if not isinstance(data, list):
        return []
    if len(data) == 2 and all(isinstance(value, float) for value in data) and 0 < data[0] < data[1] < 0.5:
        return [(data[0], data[1])]
    return [item for value in data for item in _ranges(value)]


def test_no_prior_is_a_range_of_a_task() -> None:
    tasks = [found for file in TASKS for found in _ranges(yaml.safe_load(file.read_text()).get("kinds"))]
    assert len(tasks) > 10, "the tasks' sizes are not where they were"
    for kind, forms in yaml.safe_load(Path(resource_path("config/objects.yaml")).read_text())["kinds"].items():
        for form in forms:
            for name, span in form.items():
                if name in ("long", "middle", "short", "height", "usual_long", "usual_middle", "usual_short"):
                    same = [task for task in tasks if abs(task[0] - span[0]) < NEAR and abs(task[1] - span[1]) < NEAR]
                    assert not same, f"{kind}: {name} {span} is {same} of a task"


@pytest.mark.parametrize(
    ("size", "shape", "kind"),
    [  # measured by others: makers' data and the YCB table
        ((0.121, 0.018, 0.018), "cylinder", "marker"),
        ((0.148, 0.009, 0.009), "cylinder", "pen"),
        ((0.065, 0.023, 0.013), "box", "eraser"),
        ((0.026, 0.026, 0.026), "box", "block"),
        ((0.066, 0.066, 0.115), "cylinder", "can"),
        ((0.110, 0.070, 0.028), "box", "sponge"),
    ],
)
def test_real_objects_have_their_name_among_the_candidates(size: tuple[float, float, float], shape: str, kind: str) -> None:
    import numpy as np

    from deskhand.perception.classify import Appearance, load_classifier

    names = load_classifier().candidates(Appearance(shape, np.array(size), "yellow"))
    assert kind in [name.name for name in names if name.probability >= 0.25]
