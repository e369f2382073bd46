"""The pages of docs/arms name the steps that there are, in their order, with what the code says of them."""

from pathlib import Path

import pytest

from deskhand.bringup.first_day.common import AFTER, ARMS, BEFORE, steps_of

PAGES = Path(__file__).parents[4] / "docs/arms"
SHARED = (*BEFORE, *AFTER)


def _shared():
    yield "| step | what is true when it is done | your hands | what one sees |"
    yield "|---|---|---|---|"
    for step in SHARED:
        yield f"| `{step.name}` | {step.title} | {step.hands:g} min | {step.seen} |"


def _minutes():
    own = {arm: steps_of(arm) for arm in ARMS}
    yield "| | steps | your hands |"
    yield "|---|---|---|"
    for arm, steps in own.items():
        told = ", ".join(f"`{step.name}` {step.hands:g}" for step in steps)
        yield f"| `{arm}` | {told} | {sum(step.hands for step in steps):g} min |"


def _section(marker):
    text = (PAGES / "README.md").read_text()
    assert marker in text
    return text.split(marker, 1)[1].strip().splitlines()


@pytest.mark.parametrize(("marker", "table"), [("<!-- steps: shared -->", _shared), ("<!-- steps: all -->", _minutes)], ids=["shared", "minutes"])
def test_the_tables_of_the_steps_are_those_of_the_code(marker, table):
    wanted = list(table())
    assert _section(marker)[: len(wanted)] == wanted, "expected:\n" + "\n".join(wanted)


@pytest.mark.parametrize("arm", ARMS)
def test_the_page_of_an_arm_describes_each_of_its_own_steps_in_their_order(arm):
    text = (PAGES / f"{arm}.md").read_text()
    assert f"deskhand first-day {arm}" in text and "--rehearse" in text and "**Not yet run on hardware.**" in text
    own = [step.name for step in steps_of(arm) if step not in SHARED]
    section = text[text.index("\n## ") :]
    places = [section.find(f"`{name}`") for name in own]
    assert -1 not in places, f"no word of {[name for name, place in zip(own, places, strict=True) if place < 0]}"
    assert places == sorted(places)


@pytest.mark.parametrize("page", sorted(path.name for path in PAGES.glob("*.md")))
def test_links_of_the_pages_lead_somewhere(page):
    import re

    for target in re.findall(r"\]\(([^)#:]+\.md)", (PAGES / page).read_text()):
        assert (PAGES / target).is_file(), f"{page} links to {target}"
