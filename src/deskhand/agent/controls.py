"""Tools of the loop itself: they are answered by it and never reach the robot. What a model may say besides calling the robot's tools."""

from __future__ import annotations

from typing import Any

from deskhand.world.relations import SIDEWAYS

SUBMIT_PLAN = "submit_plan"
FINISH = "finish"
ASK_USER = "ask_user"
FIND_TOOLS = "find_tools"
RUN_CODE = "run_code"
STATUSES = ("done", "answered", "partly", "refused")
TEXT_ONLY = "text_only"
"""The status of an end that the model claims by text, without the call."""

CONTROL_CARDS: tuple[dict[str, Any], ...] = (
    {
        "name": SUBMIT_PLAN,
        "summary": "Say which sub-goals the instruction means; verified before anything moves, checked at the end. A new plan replaces the one before.",
        "input_schema": {
            "type": "object",
            "properties": {
                "subgoals": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "object_id": {"type": "string"},
                            "relation": {"type": "string", "enum": ["on", "in", *SIDEWAYS], "default": "on"},
                            "target_id": {"type": "string", "default": "table"},
                            "position": {
                                "type": "array",
                                "items": {"type": "number"},
                                "minItems": 2,
                                "maxItems": 2,
                                "description": "[x, y] of its centre [m], with any relation",
                            },
                            "yaw": {"type": "number", "minimum": -6.3, "maximum": 6.3, "description": "heading of its longer side [rad]"},
                        },
                        "required": ["object_id"],
                        "additionalProperties": False,
                    },
                },
                "keep": {
                    "type": "boolean",
                    "default": False,
                    "description": "true: these come to the sub-goals that the plan has; false: they are the whole plan, and it replaces the one before",
                },
            },
            "required": ["subgoals"],
            "additionalProperties": False,
        },
    },
    {
        "name": FINISH,
        "summary": "End the task with a truthful status and summary.",
        "input_schema": {
            "type": "object",
            "properties": {"status": {"type": "string", "enum": list(STATUSES)}, "summary": {"type": "string"}, "code": {"type": "string"}},
            "required": ["status", "summary"],
            "additionalProperties": False,
        },
    },
    {
        "name": ASK_USER,
        "summary": "Ask the user when the instruction can mean more than one object or act; the result is the user's answer. Without one the task ends.",
        "input_schema": {
            "type": "object",
            "properties": {
                "question": {"type": "string", "minLength": 3, "maxLength": 500},
                "options": {
                    "type": "array",
                    "items": {"type": "string", "minLength": 1, "maxLength": 200},
                    "maxItems": 9,
                    "description": "answers to choose from",
                },
            },
            "required": ["question"],
            "additionalProperties": False,
        },
    },
)

SUBMIT_PLAN_CARD = CONTROL_CARDS[0]

FIND_TOOLS_CARD: dict[str, Any] = {
    "name": FIND_TOOLS,
    "summary": "Search for tools that are not shown, by what they should do; what is found can be called from then on.",
    "input_schema": {
        "type": "object",
        "properties": {"query": {"type": "string", "minLength": 3, "maxLength": 200}},
        "required": ["query"],
        "additionalProperties": False,
    },
}

RUN_CODE_CARD: dict[str, Any] = {
    "name": RUN_CODE,
    "summary": "Run Python that calls the tools as functions; what it prints comes back, names are kept for the next code.",
    "input_schema": {
        "type": "object",
        "properties": {"code": {"type": "string", "minLength": 1, "maxLength": 8000, "description": "Python; nothing can be imported but math"}},
        "required": ["code"],
        "additionalProperties": False,
    },
}
