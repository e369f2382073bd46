"""An error that crosses to another process is the same error there."""

import pickle

import pytest

from deskhand.errors import DeskhandError
from deskhand.etp.outcome import ToolError
from deskhand.skills.base import SkillError


@pytest.mark.parametrize(
    "error",
    [
        DeskhandError("missing_dependency", "no renderer", retry=True, hint="Install it."),
        SkillError("grasp_failed", "slipped", {"width": 0.01}, hint="Again."),
        ToolError("no_grasp", "none", data={"tried": 3}),
    ],
)
def test_an_error_goes_through_pickle_with_all_that_it_says(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and vars(again) == vars(error) and str(again) == str(error)
