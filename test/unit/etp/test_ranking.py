import numpy as np
import pytest
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.meaning import VARIABLE, SentenceModel, sentence_model
from deskhand.etp.ranking import passages
from deskhand.etp.registry import Registry
from deskhand.etp.tool import ToolContext, tool


class Done(TypedDict):
    done: bool


def a_tool(name, summary, asked):
    def function(ctx: ToolContext) -> Done:
        return {"done": True}

    function.__doc__ = summary
    about = {"when_to_use": "For this test only; or for nothing.", "limits": "Does nothing.", "examples": [{}]}
    return tool(name=name, group="cognition", unit="queryable_memory", asked=asked, **about)(function)


KETTLE = ("heat_water", "Bring water to the boil.", ["I would like some tea.", "Make it hot."])
LAMP = ("turn_lamp", "Switch the lamp on or off.", ["It is too dark here.", "I cannot read in this light."])


@pytest.fixture(scope="module")
def model():
    found, why_not = sentence_model()
    return found or pytest.skip(why_not)


def registry(*tools, model=None):
    made = Registry(lambda: (model, ""))
    for each in tools:
        made.add(a_tool(*each))
    return made


def test_what_people_ask_is_searched_and_a_tool_that_is_added_later_is_found():
    kept = registry(KETTLE)
    assert {"I would like some tea.", "heat water", "or for nothing."} <= set(passages(kept.get("heat_water").card))
    assert [hit.name for hit in kept.search("a cup of tea")] == ["heat_water"]
    assert kept.search("too dark to see") == []
    kept.add(a_tool(*LAMP))
    assert [hit.name for hit in kept.search("too dark to see")] == ["turn_lamp"]


def test_meaning_finds_what_shares_no_word_and_nonsense_finds_nothing(model):
    kept = registry(KETTLE, LAMP, model=model)
    assert "meaning" in kept.ranked_by
    assert registry(KETTLE, LAMP).search("brew coffee") == []
    assert kept.search("brew coffee")[0].name == "heat_water"
    assert kept.search("brighten up my room")[0].name == "turn_lamp"
    assert kept.search("zzz qqq") == [] and kept.search("?!") == []


def test_vectors_are_kept_and_those_of_another_model_are_not_taken(model, tmp_path):
    files = model._files
    texts = ["Pick up the cup.", "Close the door, please, before the cat gets out."]
    first = SentenceModel(*files, kept=tmp_path)
    vectors = first.passages(texts)
    assert vectors.shape == (2, 384) and np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.all((vectors * model.embed(texts)).sum(axis=1) > 0.998), "order and values, whatever was reckoned together"
    again = SentenceModel(*files, kept=tmp_path)
    again.embed = None  # nothing is left to reckon
    assert np.array_equal(again.passages(texts), vectors)
    (tmp_path / f"{model.name}.npz").write_bytes(b"broken")
    assert np.array_equal(SentenceModel(*files, kept=tmp_path).passages(texts), vectors)
    other = tmp_path / "other.onnx"
    other.write_bytes(files[0].read_bytes() + b"\n")
    assert SentenceModel(other, files[1], seed=tmp_path / f"{model.name}.npz").name != model.name


def test_what_was_searched_for_before_or_is_a_passage_is_not_reckoned_again(model):
    fresh = SentenceModel(*model._files)
    passage, asked = "Pick up the cup.", "grab the mug"
    (kept,) = fresh.passages([passage])
    first = fresh.query(asked)
    assert np.array_equal(first, model.embed([asked])[0])
    fresh.embed = None  # nothing is left to reckon
    assert np.array_equal(fresh.query(asked), first) and np.allclose(fresh.query(passage), kept)


def test_a_model_that_does_not_work_is_said_and_words_still_find(tmp_path, caplog, monkeypatch):
    (tmp_path / "model.onnx").write_bytes(b"no model")
    (tmp_path / "tokenizer.json").write_text("{}")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    sentence_model.cache_clear()
    try:
        kept = registry(KETTLE, model=sentence_model()[0])
        assert kept.search("boil water")[0].name == "heat_water"
        assert kept.ranked_by.startswith("words only: ") and "words only" in caplog.text
        monkeypatch.setenv(VARIABLE, str(tmp_path / "nothing"))
        sentence_model.cache_clear()
        with pytest.raises(DeskhandError, match=r"model\.onnx"):
            sentence_model()
    finally:
        sentence_model.cache_clear()
