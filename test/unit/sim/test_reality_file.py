"""What a reality file says, and how it is drawn."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
import yaml

from deskhand.errors import DeskhandError
from deskhand.sim.fields import Field
from deskhand.sim.reality.file import SECTIONS, draw, load_reality, to_dict
from deskhand.sim.reality.spec import PARTS, RealitySpec
from deskhand.sim.spec import CameraSpec
from deskhand.sim.worldfile import save_world, world_from_dict, world_to_dict
from deskhand.tasks import world_of
from deskhand.types.resources import resource_path

BLOCK = {"kind": "block", "color": "red", "size": 0.04, "pose": [0.05, 0.0]}


def drawn(data: dict, seed: int = 0) -> RealitySpec:
    return draw(Field(data, "", "test.yaml"), seed)


@pytest.mark.parametrize("name", ["mild", "hard"])
def test_every_range_that_ships_names_its_source(name: str) -> None:
    data = yaml.safe_load((resource_path("config/reality") / f"{name}.yaml").read_text())
    ranges = [(section, key, value) for section, values in data.items() for key, value in values.items() if isinstance(value, dict)]
    assert len(ranges) > 20
    assert [(section, key) for section, key, value in ranges if len(value.get("source", "")) < 5] == []


@pytest.mark.parametrize("name", ["mild", "hard"])
def test_the_same_seed_draws_the_same_and_another_another(name: str) -> None:
    assert load_reality(name, 3) == load_reality(name, 3)
    assert load_reality(name, 3) != load_reality(name, 4)


def test_hard_reaches_further_than_mild() -> None:
    mild, hard = ([load_reality(name, seed) for seed in range(60)] for name in ("mild", "hard"))
    for path in ("camera.translation", "camera.rotation", "depth.bend", "depth.flying", "depth.registration", "depth.dark", "depth.interference"):
        section, _, key = path.partition(".")
        assert np.mean([getattr(getattr(one, section), key) for one in hard]) > 1.5 * np.mean([getattr(getattr(one, section), key) for one in mild]), path


def test_a_number_is_drawn_the_same_whatever_else_is_in_the_file() -> None:
    span = {"low": 0.0, "high": 0.01}
    alone = drawn({"depth": {"noise": span}})
    among = drawn({"depth": {"noise": span, "bend": span}, "camera": {"translation": span}})
    assert alone.depth.noise == among.depth.noise != among.depth.bend


def test_angles_are_said_in_degrees_and_kept_in_radians() -> None:
    assert drawn({"camera": {"rotation": 0.5}}).camera.rotation == pytest.approx(np.radians(0.5))


def test_what_was_drawn_is_drawn_again_from_its_own_words() -> None:
    reality = load_reality("hard", 11)
    assert reality is not None
    again = drawn(to_dict(reality), seed=99)
    for section in SECTIONS:
        for item in fields(getattr(reality, section)):
            first, second = (getattr(getattr(one, section), item.name) for one in (reality, again))
            assert second == (first if isinstance(first, str) else pytest.approx(first)), f"{section}.{item.name}"
    assert again.seed == 11


@pytest.mark.parametrize(
    ("data", "named"),
    [
        ({"depth": {"nose": 0.1}}, "depth.nose"),
        ({"depth": {"noise": "much"}}, "depth.noise"),
        ({"depth": {"noise": {"low": 0.02, "high": 0.01}}}, "depth.noise"),
        ({"depth": {"noise": {"low": 0.0, "high": 2.0}}}, "depth.noise.high"),
        ({"table": {"pattern": "marble"}}, "table.pattern"),
        ({"table": {"color": "red"}}, "table.color"),
        ({"table": {"pattern": {"one_of": []}}}, "table.pattern.one_of"),
        ({"weather": {}}, "weather"),
        ({"camera": 3}, "camera"),
    ],
)
def test_a_wrong_field_is_named(data: dict, named: str) -> None:
    with pytest.raises(DeskhandError) as caught:
        drawn(data)
    assert caught.value.code == "scene_file_error"
    assert f"test.yaml: {named}:" in str(caught.value)


def test_an_unknown_reality_is_refused_with_those_there_are() -> None:
    with pytest.raises(DeskhandError, match="hard, mild, none") as caught:
        load_reality("real", 0)
    assert caught.value.code == "config_error"


def test_a_scene_file_names_its_reality_and_keeps_it(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("depth: {scale: 0.01}\n")
    world = world_from_dict({"seed": 5, "reality": "mine.yaml", "objects": [BLOCK]}, folder=tmp_path)
    assert world.reality is not None
    assert world.reality.depth.scale == 0.01
    assert world.reality.seed == 5
    moved = world_from_dict({"seed": 5, "reality": "mild", "objects": [BLOCK]})
    assert world_from_dict(world_to_dict(moved)).camera.world_T_camera == pytest.approx(moved.camera.world_T_camera)
    with pytest.raises(DeskhandError, match="reality: there is no reality 'mildew'"):
        world_from_dict({"reality": "mildew", "objects": [BLOCK]})


def test_what_the_caller_asks_for_goes_before_what_the_scene_says(tmp_path: Path) -> None:
    scene = tmp_path / "scene.yaml"
    scene.write_text(yaml.safe_dump({"reality": {"depth": {"scale": 0.01}}, "objects": [BLOCK]}))
    assert world_of("wx250s", "", 0, scene, "none").reality is None
    said = world_of("wx250s", "", 0, scene, "").reality
    assert said is not None and said.depth.scale == 0.01
    asked = world_of("wx250s", "", 0, scene, "hard").reality
    assert asked is not None and asked.depth.registration > 0.5


def test_where_nobody_says_anything_the_world_is_mild_and_a_saved_one_stays_as_it_is(tmp_path: Path) -> None:
    scene, saved = tmp_path / "scene.yaml", tmp_path / "saved.yaml"
    scene.write_text(yaml.safe_dump({"seed": 4, "objects": [BLOCK]}))
    assert world_of("wx250s", "", 0, scene).reality == load_reality("mild", 4) == world_of("wx250s", "desk_cleaning", 4).reality
    save_world(world_of("wx250s", "", 0, scene, "none"), saved)
    assert world_of("wx250s", "", 0, saved).reality is None


def test_the_camera_is_moved_by_what_the_caller_asks_for_alone(tmp_path: Path) -> None:
    scene = tmp_path / "scene.yaml"
    scene.write_text(yaml.safe_dump({"seed": 4, "reality": "mild", "objects": [BLOCK]}))
    assert np.array_equal(world_of("wx250s", "", 0, scene, "none").camera.world_T_camera, CameraSpec().world_T_camera)
    assert not np.array_equal(world_of("wx250s", "", 0, scene).camera.world_T_camera, CameraSpec().world_T_camera)


def test_the_parts_cover_all_numbers_once() -> None:
    every = {f"{section}.{item.name}" for section in SECTIONS for item in fields(getattr(RealitySpec(), section))}
    named: list[str] = []
    for paths in PARTS.values():
        for path in paths:
            section = path.partition(".")[0]
            named += [path] if "." in path else [f"{section}.{item.name}" for item in fields(getattr(RealitySpec(), section))]
    assert sorted(named) == sorted(every - {"servos.file"})


def test_a_part_alone_leaves_the_rest_ideal() -> None:
    reality = load_reality("hard", 2)
    assert reality is not None
    alone = reality.only("registration")
    assert alone.depth.registration == reality.depth.registration
    assert alone == RealitySpec(2, depth=type(alone.depth)(registration=reality.depth.registration))


def test_a_part_is_named_behind_a_colon() -> None:
    whole, alone = load_reality("mild", 4), load_reality("mild:depth noise", 4)
    assert whole is not None
    assert alone == whole.only("depth noise")
    with pytest.raises(DeskhandError, match="has no part 'noise'; it has mount error"):
        load_reality("mild:noise", 4)
