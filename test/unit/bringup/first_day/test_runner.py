"""The order of the steps: each once, none skipped, taken up where it was left, whatever ended it."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from deskhand.bringup.first_day.base import Day, Step
from deskhand.bringup.first_day.common import ARMS, steps_of
from deskhand.bringup.first_day.journal import Journal
from deskhand.bringup.first_day.report import command, write_report
from deskhand.bringup.first_day.runner import FirstDay
from deskhand.errors import DeskhandError

NAMES = ("one", "two", "three", "four")


@dataclass
class Quiet:
    """Says yes; ``no`` are keys that are declined, ``leaves`` one at which the person presses Ctrl-C."""

    no: tuple[str, ...] = ()
    leaves: str = ""
    said: list[str] = field(default_factory=list)

    def say(self, text):
        self.said.append(text)

    def act(self, key, text):
        if key == self.leaves:
            raise KeyboardInterrupt

    def confirm(self, key, text):
        self.act(key, text)
        return key not in self.no

    def number(self, key, text, default):
        self.act(key, text)
        return default

    def choose(self, key, text, options, default):
        self.act(key, text)
        return default


@dataclass
class Workplace:
    """Counts how often the nodes were stopped."""

    released: int = 0

    def release(self):
        self.released += 1


@dataclass
class Walk:
    """Steps that write down that they were done, and on what they built."""

    folder: Path
    breaks: str = ""
    done: list[str] = field(default_factory=list)
    operator: Quiet = field(default_factory=Quiet)
    workplace: Workplace = field(default_factory=Workplace)

    def step(self, name):
        def run(day):
            day.operator.act(f"{name}.question", "?")
            if name == self.breaks:
                raise DeskhandError("servo_fault", f"{name} failed.", hint="Mend it.")
            self.done.append(name)
            day.settings[name] = "chosen"
            return {"before": sorted(day.measured), "value": 1.5}

        return Step(name, f"{name} is done", 2.0, run, seen="a light", optional=name == "three")

    def go(self, start="", redo=""):
        """As a process of its own would: the journal is all that it knows."""
        self.done.clear()
        journal = Journal.open(self.folder, "jetarm")
        day = Day("jetarm", self.folder, self.operator, workplace=self.workplace)
        walk = FirstDay(day, [self.step(name) for name in NAMES], journal)
        walk.again(start, redo)
        walk.run()
        return journal


def test_every_step_is_done_once_in_its_order_and_sees_what_was_measured_before(tmp_path):
    walk = Walk(tmp_path)
    journal = walk.go()
    assert walk.done == list(NAMES) and list(journal.entries) == list(NAMES)
    assert journal.entries["three"].measured["before"] == ["one", "two"]
    assert journal.entries["four"].seconds >= journal.entries["four"].asked >= 0
    walk.go()
    assert walk.done == []


@pytest.mark.parametrize("name", NAMES)
def test_a_step_that_fails_stops_the_day_and_the_next_run_resumes_there(tmp_path, name):
    walk = Walk(tmp_path, breaks=name)
    with pytest.raises(DeskhandError, match=f"{name} failed"):
        walk.go()
    before = list(NAMES[: NAMES.index(name)])
    assert walk.done == before and walk.workplace.released
    journal = Journal.open(tmp_path, "jetarm")
    assert list(journal.entries) == before and [(each.step, each.code) for each in journal.failures] == [(name, "servo_fault")]
    walk.breaks = ""
    journal = walk.go()
    assert walk.done == list(NAMES[NAMES.index(name) :])
    assert set(journal.settings) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_leaving_at_any_question_loses_nothing_and_stops_the_nodes(tmp_path, name):
    walk = Walk(tmp_path, operator=Quiet(leaves=f"{name}.question"))
    with pytest.raises(KeyboardInterrupt):
        walk.go()
    assert list(Journal.open(tmp_path, "jetarm").entries) == list(NAMES[: NAMES.index(name)])
    assert walk.workplace.released
    walk.operator.leaves = ""
    walk.go()
    assert walk.done == list(NAMES[NAMES.index(name) :])


def test_from_does_a_step_and_all_after_it_again_and_redo_that_one_alone(tmp_path):
    walk = Walk(tmp_path)
    walk.go()
    walk.go(start="three")
    assert walk.done == ["three", "four"]
    journal = walk.go(redo="two")
    assert walk.done == ["two"] and any("Steps that stay as they are: three, four" in text for text in walk.operator.said)
    assert journal.entries["two"].measured["before"] == ["four", "one", "three"]
    for asked in ({"start": "five"}, {"redo": "five"}):
        with pytest.raises(DeskhandError, match="valid: one, two, three, four"):
            walk.go(**asked)


def test_an_optional_step_can_be_left_out_and_taken_later(tmp_path):
    walk = Walk(tmp_path, operator=Quiet(no=("optional.three",)))
    journal = walk.go()
    assert walk.done == ["one", "two", "four"] and journal.entries["three"].left_out and "three" not in journal.measured
    walk.operator.no = ()
    walk.go(redo="three")
    assert walk.done == ["three"]


def test_two_steps_of_one_name_are_refused(tmp_path):
    walk = Walk(tmp_path)
    with pytest.raises(DeskhandError, match="names of their own"):
        FirstDay(Day("jetarm", tmp_path, walk.operator), [walk.step("one"), walk.step("one")], Journal.open(tmp_path, "jetarm"))


def test_the_report_has_every_step_what_stopped_it_and_how_to_go_on(tmp_path):
    walk = Walk(tmp_path, breaks="four", operator=Quiet(no=("optional.three",)))
    with pytest.raises(DeskhandError):
        walk.go()
    steps = [walk.step(name) for name in NAMES]
    day = Day("jetarm", tmp_path, walk.operator, settings={"port": "/dev/rrc", "driver": "hiwonder_rrc", "camera": "orbbec"})
    text = write_report(day, steps, Journal.open(tmp_path, "jetarm")).read_text()
    assert "the first day so far" in text and "3 of 4 steps done" in text and "8 min estimated" in text
    assert "| three | three is done | left out |" in text and "`four` stopped: servo_fault: four failed. Mend it." in text
    walk.breaks = ""
    (tmp_path / "arm.yaml").write_text("extends: jetarm\n")
    text = write_report(day, steps, walk.go()).read_text()
    assert "# jetarm: the first day\n" in text and command(day) in text
    assert command(day) == f"deskhand up robot --arm {tmp_path}/arm.yaml --driver hiwonder_rrc --port /dev/rrc --camera orbbec"


@pytest.mark.parametrize("arm", ARMS)
def test_the_day_of_every_arm_has_steps_with_names_minutes_and_what_one_sees(arm):
    steps = steps_of(arm)
    assert steps[0].name == "system" and [step.name for step in steps[-3:]] == ["table", "look", "pick"]
    assert len({step.name for step in steps}) == len(steps)
    assert all(step.hands > 0 and step.title and step.seen for step in steps)


def test_an_arm_without_a_first_day_is_refused_with_those_that_have_one():
    with pytest.raises(DeskhandError, match="jetarm, so101, wx250s"):
        steps_of("panda")
