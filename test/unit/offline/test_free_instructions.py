"""The cases of config/tasks/free_instructions.yaml on a desk of symbols: what is understood, asked, done and said."""

import pytest
from free_desk import run_case

from deskhand.tasks.free_instructions import settings

CASES = settings()["cases"]


@pytest.mark.parametrize("seed", range(len(CASES)), ids=[case["name"] for case in CASES])
def test_the_end_is_as_the_case_wants_it(seed: int) -> None:
    score, word, _ = run_case(seed)
    assert score.success, f"{score.problems} {word.summary}"


def test_half_of_the_cases_were_held_out_while_the_brain_was_made() -> None:
    assert [case["share"] for case in CASES].count("held_out") == len(CASES) / 2
    assert len({case["name"] for case in CASES}) == len(CASES) >= 60
