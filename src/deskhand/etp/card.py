"""The card of a tool: all that a caller may know before it calls."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, Literal

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator, model_validator

from deskhand.errors import ERROR_NUMBERS, DeskhandError, explain

UNITS: dict[str, tuple[str, ...]] = {
    "perception": (
        "detection",
        "segmentation_and_tracking",
        "depth_and_3d_geometry",
        "pose_and_localisation",
        "spatial_grounding",
        "image_quality",
    ),
    "cognition": (
        "queryable_memory",
        "spatio_temporal_state",
        "scene_graph_and_world_model",
        "map_3d_and_occupancy",
        "physical_and_contact_state",
        "representation_and_similarity",
    ),
    "reasoning": (
        "formal_verification",
        "task_and_motion_knowledge",
        "active_perception",
        "motion_planning",
        "language_and_intent",
        "optimisation_under_constraints",
    ),
    "execution": (
        "inverse_kinematics",
        "trajectory_generation",
        "force_and_compliance",
        "grasping",
        "controller_dispatch",
        "closed_loop_recovery",
    ),
}
"""The four groups and their 24 units, listed here only."""

GROUPS = tuple(UNITS)
Mode = Literal["on_demand", "continuous", "event"]
Effects = Literal["none", "memory", "motion"]
Need = Literal["camera", "arm", "gripper", "model"]
Access = Literal["files", "network"]
NAME = re.compile(r"[a-z][a-z0-9_]{1,63}")
DERIVED = "derived"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Example(BaseModel):
    """One call that is right, and when one would make it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    situation: str = ""
    arguments: dict[str, Any] = Field(default_factory=dict)


class FailureExample(BaseModel):
    """A call that is answered by the error ``code``, and when that happens.

    With the code ``invalid_arguments`` the arguments do not fit the schema; with every other code they do.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    situation: str = Field(min_length=5)
    arguments: dict[str, Any] = Field(default_factory=dict)
    code: str

    @field_validator("code")
    @classmethod
    def _code(cls, value: str) -> str:
        if value not in ERROR_NUMBERS:
            raise ValueError(f"{value!r} is no error code; valid: {', '.join(ERROR_NUMBERS)}")
        return value


class Scenario(BaseModel):
    """A scenario that the tool was measured on; ``seed``: what its desk was drawn from, None when that is not known."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    passed: bool
    measure: str = ""
    value: float | None = None
    seed: int | None = None


class Measured(BaseModel):
    """What calls have shown: latencies are wall time [s]; None until there was a call."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    calls: int = 0
    success_rate: float | None = None
    latency_median: float | None = None
    latency_p95: float | None = None


class Card(BaseModel):
    """What a tool can do, when it applies, what goes in and comes out.

    Attributes:
        group: perception, cognition, reasoning or execution; ``unit`` is one of :data:`UNITS` of that group.
        when_to_use: the situations that call for it; searched.
        limits: what it cannot do.
        words: other words in which people ask for it; ``asked``: sentences in which they do; searched.
        input_schema: JSON Schema (draft 2020-12) of the arguments, an object.
        output_schema: JSON Schema of the result.
        event_schema: JSON Schema of the events that a continuous or event tool publishes, an object; None for the others.
        mode: on_demand answers once; continuous and event tools run until stopped and publish events meanwhile.
        effects: ``none`` reads, ``memory`` changes what the robot knows or stores, ``motion`` may move something.
        needs: what must be there; motion tools hold theirs alone while they run.
        preconditions: predicates (predicates.py) that must hold before a call, for example ``holding``.
        postconditions: predicates that hold after a success; words for the caller's planning.
        timeout: [s] of wall time that a call may take.
        isolated: it only reads, and runs in a worker process that can neither move the robot nor change what is known.
        in_process: why a tool that only reads runs in the robot's process all the same; empty for the others.
        memory: [MB] that the call of an isolated tool may take beyond what its process has.
        access: what the process of an isolated tool may use besides: ``files`` (write), ``network``; empty for neither.
        lenient: arguments that do not fit are left out instead of refusing the call: for what must work whatever a caller says, as a stop.
        source: who offers it: a package, a ROS namespace, an MCP server.
        examples: calls that are right; ``failures``: calls that are answered by an error.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    version: str = "1.0"
    group: Literal["perception", "cognition", "reasoning", "execution"]
    unit: str
    summary: str = Field(min_length=10, max_length=300)
    when_to_use: str = Field(min_length=10)
    limits: str = Field(min_length=5)
    words: str = Field(default="", max_length=500)
    asked: tuple[Annotated[str, Field(max_length=200)], ...] = Field(default=(), max_length=50)
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    event_schema: dict[str, Any] | None = None
    mode: Mode = "on_demand"
    effects: Effects = "none"
    needs: tuple[Need, ...] = ()
    preconditions: tuple[str, ...] = ()
    postconditions: tuple[str, ...] = ()
    timeout: float = Field(default=10.0, gt=0, le=3600)
    isolated: bool = False
    in_process: str = Field(default="", max_length=200)
    memory: int = Field(default=1024, ge=16, le=65536)
    access: tuple[Access, ...] = ()
    lenient: bool = False
    source: str = "deskhand"
    examples: tuple[Example, ...] = ()
    failures: tuple[FailureExample, ...] = ()
    validation: tuple[Scenario, ...] = ()
    measured: Measured = Field(default_factory=Measured)

    @field_validator("name")
    @classmethod
    def _name(cls, value: str) -> str:
        if not NAME.fullmatch(value):
            raise ValueError("must be lower case letters, digits and underscores, 2 to 64 of them, beginning with a letter")
        return value

    @field_validator("input_schema", "output_schema", "event_schema")
    @classmethod
    def _schema(cls, value: dict[str, Any] | None, info: ValidationInfo) -> dict[str, Any] | None:
        if (info.context or {}).get(DERIVED):
            return value
        try:
            Draft202012Validator.check_schema(value or {})
        except SchemaError as error:
            raise ValueError(f"is not a JSON Schema: {error.message}") from error
        return value

    @field_validator("input_schema")
    @classmethod
    def _object(cls, value: dict[str, Any]) -> dict[str, Any]:
        if value.get("type") != "object":
            raise ValueError("must describe an object, whose properties are the arguments")
        return value

    @model_validator(mode="after")
    def _unit(self) -> Card:
        if self.unit not in UNITS[self.group]:
            raise ValueError(f"unit {self.unit!r} is not one of the group {self.group}: {', '.join(UNITS[self.group])}")
        if not math.isfinite(self.timeout):
            raise ValueError("timeout must be finite")
        return self

    @model_validator(mode="after")
    def _mode(self) -> Card:
        if (self.mode == "on_demand") != (self.event_schema is None):
            raise ValueError("a continuous or event tool needs `event`, the TypedDict of what it publishes; an on_demand tool has none")
        if self.mode != "on_demand" and (self.effects == "motion" or self.isolated):
            raise ValueError("a continuous or event tool watches: it may neither move anything nor be isolated")
        if self.isolated and (self.effects != "none" or set(self.needs) - {"camera"} or self.in_process):
            raise ValueError("an isolated tool reads: effects none, no needs but the camera, and no reason to run in the robot's process")
        if self.in_process and (self.effects != "none" or self.mode != "on_demand"):
            raise ValueError("in_process says why a tool that only reads is not isolated; the others never are")
        if self.access and not self.isolated:
            raise ValueError("access is for isolated tools; the others run in the robot's process")
        return self

    def to_json(self) -> dict[str, Any]:
        """As plain JSON data."""
        return self.model_dump(mode="json")

    @classmethod
    def from_json(cls, data: Any, *, derived: bool = False) -> Card:
        """A card from plain JSON data; ``derived``: its schemas were made from type hints here, and are not checked again, which takes 20 ms each.

        Raises:
            DeskhandError: ``config_error`` naming the fields that are wrong.
        """
        try:
            return cls.model_validate(data, context={DERIVED: derived})
        except ValidationError as error:
            name = data.get("name", "?") if isinstance(data, dict) else "?"
            raise DeskhandError("config_error", f"the card of tool {name!r} is broken: {explain(error)}.") from error
