import pytest

from deskhand.bench.discovery.run import AMONG_FIVE, FIRST, HALVES, load_queries, measure
from deskhand.tools.base import load_tools
from deskhand.tools.words import kept_words


@pytest.fixture(scope="module")
def registry():
    return load_tools(others=False)[0]


@pytest.mark.parametrize("half", HALVES)
def test_the_right_tool_comes_first_mostly_and_is_nearly_always_among_five(registry, half):
    found = measure(registry, load_queries(), half)
    assert found.queries >= 75
    assert found.first >= FIRST and found.among_five >= AMONG_FIVE, found.missed


def test_queries_and_words_are_of_tools_that_there_are(registry):
    names = {card.name for card in registry.cards()}
    assert {query.tools[0] for query in load_queries()} <= names
    assert set(kept_words()) <= names


def test_a_search_that_means_nothing_finds_nothing_and_no_words_find_all(registry):
    assert registry.search("zzz qqq") == []
    assert registry.search("the of and") == []
    assert len(registry.search("")) == len(registry) >= 28
    scores = [hit.score for hit in registry.search("pick up the red block")]
    assert scores == sorted(scores, reverse=True)


def test_a_search_can_be_kept_to_a_group_or_unit(registry):
    assert {hit.group for hit in registry.search("object", group="perception")} == {"perception"}
    assert {hit.name for hit in registry.search("", unit="force_and_compliance")} >= {"open_gripper", "close_gripper", "push"}
    assert len(registry.search("object", limit=2)) == 2
