"""``demo``, ``trial`` and ``do`` have the same options by the same names; exit codes of ``do``."""

import pytest
import typer

from deskhand.commands.cli import app
from deskhand.commands.do import exit_code
from deskhand.errors import DeskhandError
from deskhand.llm import load_profile
from deskhand.llm.config import with_images
from deskhand.trials.base import TrialOptions
from deskhand.trials.local import budgets_of


def options(command: str) -> set[str]:
    click = typer.main.get_command(app)
    return {name for item in click.commands[command].params for name in item.opts}  # type: ignore[attr-defined]


def test_demo_and_trial_take_the_same() -> None:
    shared = {"--scene", "--instruction", "--mode", "--timeout", "--answer-timeout", "--images", "--brain", "--arm", "--seed", "--local", "--fault", "--json"}
    assert shared <= options("demo") and shared <= options("trial")
    assert {"--mode", "--timeout", "--answer-timeout", "--json"} <= options("do")


@pytest.mark.parametrize(
    ("result", "code"),
    [
        ({"success": True, "error_code": ""}, 0),
        ({"success": False, "error_code": "unverified"}, 3),
        ({"success": False, "error_code": "no_grasp"}, 1),
        ({"success": False, "error_code": "cancelled"}, 1),
    ],
)
def test_the_exit_code_says_done_unverified_or_failed(result: dict[str, object], code: int) -> None:
    assert exit_code(result) == code


def test_how_long_a_question_waits_reaches_the_budget() -> None:
    profile = load_profile("offline")
    assert budgets_of(TrialOptions(answer_timeout=3.5), profile).answer_seconds == 3.5
    assert budgets_of(TrialOptions(timeout=7.0), profile).answer_seconds == 120.0


def test_pictures_for_a_model_that_is_shown_none_are_refused() -> None:
    profile = load_profile("offline")
    assert with_images(profile, None) is profile
    if not hasattr(profile, "images"):
        with pytest.raises(DeskhandError, match="no pictures"):
            with_images(profile, 2)
