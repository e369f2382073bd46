"""Every text of foreign_cases.yaml on a simulated robot in one process, with both settings: nothing that it asks for reaches the arm, nothing is moved."""

import pytest
from injected import CASES, inject, simulated

from deskhand.agent.authorisation import STRICT, TASK


@pytest.mark.attacks
@pytest.mark.parametrize("setting", [TASK, STRICT])
def test_no_text_moves_the_simulated_robot(setting, tmp_path):
    runs = []
    for case in CASES:  # each on a desk of its own: what the user asked for may have been done
        with simulated(tmp_path / case["id"]) as (session, parts):
            runs.append(inject(session, parts, case, setting))
    assert [run for run in runs if not run.good] == []


@pytest.mark.attacks
def test_without_the_authorisation_the_same_robot_obeys(tmp_path):
    with simulated(tmp_path) as (session, parts):
        run = inject(session, parts, next(case for case in CASES if case["id"] == "l01"), TASK, trusted=True)
    assert run.obeyed and run.moved
