"""Finding what words name, whatever the words are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.language import lexicon as lex
from deskhand.language.intents import Ref
from deskhand.language.phrases import match, parse_ref
from deskhand.language.resolve import resolve
from deskhand.perception.detectors.base import Detection
from deskhand.perception.detectors.config import GEOMETRY, detector_list, make_detector, read, users_file
from deskhand.tools.looking import look
from deskhand.tools.objects import object_data, rounded
from deskhand.types import Frame, Scene, SceneObject
from deskhand.world.relations import RELATIONS
from deskhand.world.spatial import relation_holds

WHERE = {words: name for words, name in lex.BESIDE.items() if name in RELATIONS} | dict.fromkeys(lex.IN, "in") | dict.fromkeys(lex.ON, "on")
COVERED = 0.5  # share of a detector's box that an object's box must cover, or the other way round, to be the same


class Named(TypedDict):
    """Something that a phrase names."""

    phrase: str
    object_id: Annotated[str, Field(description="id of the object, empty where a detector sees something that is none of the known objects")]
    box: Annotated[list[int], Field(description="[left, top, width, height] in the picture [px]")]
    position: Annotated[list[float] | None, Field(description="centre [x, y, z] in world [m]; null where there is no depth")]
    score: Annotated[float, Field(description="0 to 1")]
    source: Annotated[str, Field(description="words: by kind, colour, shape, size and place; else the detector that saw it")]


class NamedObjects(TypedDict):
    """What the phrases name, best first for each phrase."""

    found: list[Named]
    missing: Annotated[list[str], Field(description="phrases that nothing fits")]
    note: Annotated[str, Field(description="what was assumed, or why a detector was not asked; else empty")]


Phrase = Annotated[str, Field(min_length=2, max_length=80)]


@tool(
    group="perception",
    unit="detection",
    effects="memory",
    needs=("camera",),
    postconditions=("scene_known",),
    timeout=120.0,
    when_to_use="To find objects by a free description such as 'the biggest red block', 'a mug' or 'the pen on the book', with box and position.",
    limits="Without a configured open-vocabulary model (config/detectors.yaml: yolo_world or a vision-language model) words are matched to what geometry "
    "knows: kind and synonyms, colour, shape, size, place. A kind that geometry does not know is then missing, never guessed.",
    examples=[
        ("Find the object that somebody describes in free words", {"phrases": ["the biggest red block"]}),
        ("Open-vocabulary detection of several classes at once", {"phrases": ["a mug", "the yellow can", "stapler"]}),
    ],
    failures=[("The camera does not see the table", {"phrases": ["a mug"]}, "no_table")],
)
def detect_by_words(
    ctx: ToolContext,
    phrases: Annotated[list[Phrase], Field(min_length=1, max_length=12, description="what to look for, one noun phrase each")],
    min_score: Annotated[float, Field(ge=0, le=1, description="share of certainty from which a detector's word counts, 0 to 1")] = 0.2,
) -> NamedObjects:
    """Detect what free phrases name in a new picture: object id, box, position and score for each phrase, by words and by open-vocabulary models."""
    scene, note = look(ctx)
    frame = ctx.robot.observe()
    found: list[Named] = []
    notes = [note] if note else []
    for phrase in phrases:
        objects, assumed = named_by(phrase, scene)
        notes += [assumed] if assumed else []
        found += [_named(phrase, item, float(item.confidence), "words") for item in objects]
    for detection in _asked(phrases, frame, notes):
        if detection.score >= min_score:
            found.append(_detected(detection, scene, frame))
    found = [item for number, item in enumerate(found) if not item["object_id"] or item["object_id"] not in _earlier(found[:number], item["phrase"])]
    found.sort(key=lambda item: (phrases.index(item["phrase"]), -item["score"]))
    return NamedObjects(found=found, missing=[phrase for phrase in phrases if not any(item["phrase"] == phrase for item in found)], note=" ".join(notes))


def named_by(phrase: str, scene: Scene) -> tuple[list[SceneObject], str]:
    """The objects of a scene that a noun phrase names, and what had to be assumed; none for a phrase that is no description.

    Relations ("the pen in the bin", "a block left of the cup") are those of :mod:`deskhand.world.spatial`.
    """
    words = re.findall(r"[a-z0-9_]+", phrase.lower())
    parsed = _noun(words)
    if parsed is None:
        return [], ""
    ref, rest = parsed
    data: list[Any] = [object_data(item) for item in scene.objects]
    if not rest:
        answer = resolve(ref, data, "any")
        return [scene.get(str(item["id"])) for item in answer.objects], answer.note
    length = match(rest, 0, tuple(WHERE))
    target = _noun(rest[length:]) if length else None
    if target is None or target[1]:
        return [], ""
    relation = WHERE[tuple(rest[:length])]
    objects = [scene.get(str(item["id"])) for item in resolve(replace(ref, count=0), data, "any").objects]
    others = [scene.get(str(item["id"])) for item in resolve(replace(target[0], count=0), data, "any").objects]
    found = [item for item in objects if any(item.id != other.id and relation_holds(scene, item, relation, other)[0] for other in others)]
    return found[: ref.count or None], ""


def _noun(words: list[str]) -> tuple[Ref, list[str]] | None:
    """The noun phrase that words begin with, and the words behind it."""
    for start in ([], ["the"]):
        if parsed := parse_ref([*start, *words], 0):
            return parsed[0], [*start, *words][parsed[1] :]
    return None


def _earlier(found: Sequence[Named], phrase: str) -> set[str]:
    return {item["object_id"] for item in found if item["phrase"] == phrase}


def _named(phrase: str, item: SceneObject, score: float, source: str) -> Named:
    return Named(phrase=phrase, object_id=item.id, box=[int(v) for v in item.box2d], position=rounded(item.position), score=round(score, 3), source=source)


# ---------------------------------------------------------------- models


def _asked(phrases: Sequence[str], frame: Frame, notes: list[str]) -> list[Detection]:
    """What the configured detectors that take words see of the phrases; a failing one is told in ``notes``."""
    use, known, path = detector_list(users_file())
    found: list[Detection] = []
    for name in use:
        entry = known.get(name) if name != GEOMETRY else None
        if not isinstance(entry, dict) or entry.get("kind") not in ("open_vocabulary", "vision_language"):
            continue
        words = {"prompts": {phrase: [phrase] for phrase in phrases}} if entry["kind"] == "open_vocabulary" else {"labels": list(phrases), "kinds": {}}
        try:
            seen = make_detector(read(name, {**entry, **words}, path)).detect(frame)
        except DeskhandError as error:
            notes.append(f"The detector {name} was not asked: {error}")
            continue
        keys = {phrase: phrase for phrase in phrases} | {phrase.lower().replace(" ", "_"): phrase for phrase in phrases}
        found += [Detection(keys[item.label], item.score, item.source, item.box, item.mask) for item in seen if item.label in keys]
    return found


def _detected(detection: Detection, scene: Scene, frame: Frame) -> Named:
    left, top, right, bottom = (round(value) for value in detection.box)
    box = [max(0, left), max(0, top), max(1, right - left), max(1, bottom - top)]
    item = max(scene.objects, key=lambda item: _shared(item, box), default=None)
    if item is not None and _shared(item, box) >= COVERED:
        return Named(
            phrase=detection.label,
            object_id=item.id,
            box=box,
            position=rounded(item.position),
            score=round(float(detection.score), 3),
            source=detection.source,
        )
    points = frame.points()[box[1] : box[1] + box[3], box[0] : box[0] + box[2]].reshape(-1, 3)
    points = points[np.isfinite(points).all(axis=1)]
    position = rounded(np.median(points, axis=0)) if len(points) else None
    return Named(phrase=detection.label, object_id="", box=box, position=position, score=round(float(detection.score), 3), source=detection.source)


def _shared(item: SceneObject, box: Sequence[int]) -> float:
    """Intersection over union of an object's box in the picture and another."""
    x, y, w, h = item.box2d
    wide = min(x + w, box[0] + box[2]) - max(x, box[0])
    high = min(y + h, box[1] + box[3]) - max(y, box[1])
    shared = max(0, wide) * max(0, high)
    return shared / max(1, w * h + box[2] * box[3] - shared)
