"""How fast a simulated robot lives beside the clock on the wall."""

from dataclasses import replace

import pytest

from deskhand.errors import DeskhandError
from deskhand.trials.base import TrialOptions, prepare
from deskhand.trials.ros import trial_nodes


def test_the_simulation_is_told_the_pace_and_nobody_else(tmp_path):
    nodes = {node.name: node for node in trial_nodes(TrialOptions(pace=1.5), tmp_path, 3)}
    assert {name for name, node in nodes.items() if "realtime_factor" in node.parameters} == {"sim"}
    assert nodes["sim"].parameters["realtime_factor"] == 1.5
    usual = {node.name: node for node in trial_nodes(TrialOptions(), tmp_path, 3)}
    assert "realtime_factor" not in usual["sim"].parameters


@pytest.mark.parametrize("other", [{"local": True}, {"driver": "feetech", "arm": "so101"}])
def test_a_pace_where_there_is_no_such_clock_is_refused(other):
    with pytest.raises(DeskhandError) as raised:
        prepare(replace(TrialOptions(pace=1.0), **other))
    assert raised.value.code == "invalid_input" and "--pace" in str(raised.value)
