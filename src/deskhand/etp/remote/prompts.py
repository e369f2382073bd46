"""Prompts that an MCP client can offer its user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from deskhand.errors import DeskhandError

MAX_WORDS = 2000


@dataclass(frozen=True)
class Prompt:
    """A text with places ``{name}`` for its arguments."""

    name: str
    description: str
    text: str
    arguments: Mapping[str, str] = field(default_factory=dict)


PROMPTS = {
    prompt.name: prompt
    for prompt in (
        Prompt(
            "do_task",
            "Let the robot do something on the desk, and say truthfully how it went.",
            "Do this with the robot's tools: {instruction}\n\n"
            "1. Look with detect_objects; use only the ids that it gives.\n"
            "2. Say your plan in a few steps, then act step by step, and read every result: a tool that fails says why and what to do instead.\n"
            "3. After something may have moved, look again.\n"
            "4. Before you say that it is done, prove it with check_goal. If it is not done, say what is missing and why.\n"
            "Call stop_motion at once when something goes wrong. You cannot give yourself the operator's approval.",
            {"instruction": "what shall be done, for example: put the pens into the tray"},
        ),
        Prompt(
            "describe_desk",
            "Look at the desk and say what is on it, without moving anything.",
            "Look at the desk with detect_objects and describe_scene and say in a few sentences what lies where. Do not move the arm.",
        ),
        Prompt(
            "why_did_it_fail",
            "Find out why the last step did not work, without moving anything.",
            "Something did not work: {what}\n\nFind out why: get_robot_state, then a new look with detect_objects, then what memory says of the objects "
            "(object_history, scene_changes). Say what you found, how sure you are, and what to try. Do not move the arm.",
            {"what": "what went wrong, in your words"},
        ),
    )
}


def prompt_text(name: str, arguments: Mapping[str, str]) -> str:
    """The text of a prompt.

    Raises:
        DeskhandError: ``invalid_input`` for a prompt that does not exist, or arguments that are missing, unknown or too long.
    """
    if name not in PROMPTS:
        raise DeskhandError("invalid_input", f"there is no prompt {name[:60]!r}; valid: {', '.join(PROMPTS)}.")
    prompt = PROMPTS[name]
    if set(arguments) != set(prompt.arguments):
        raise DeskhandError("invalid_input", f"the prompt {name} takes {', '.join(prompt.arguments) or 'no arguments'}; got {', '.join(arguments) or 'none'}.")
    if any(len(value) > MAX_WORDS for value in arguments.values()):
        raise DeskhandError("invalid_input", f"an argument of the prompt {name} has more than {MAX_WORDS} characters.")
    text = prompt.text
    for key, value in arguments.items():
        text = text.replace(f"{{{key}}}", value)
    return text
