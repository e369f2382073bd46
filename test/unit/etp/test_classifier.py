import numpy as np
import pytest

from deskhand.etp.classifier import ToolClassifier, read_classifier, save_classifier, trained


def drawn(seed, names=("lamp", "door", "pump"), spread=0.25, hub=0.6):
    """Passages around a direction for each tool; all share one, so that a nearest one says little."""
    rng = np.random.default_rng(seed)
    middles = {name: np.random.default_rng(number).normal(0, 1, 24) for number, name in enumerate(names)}
    shared = np.random.default_rng(99).normal(0, 1, 24)
    found = [(name, middles[name] / np.linalg.norm(middles[name]) + hub * shared + spread * rng.normal(0, 1, 24)) for name in names for _ in range(12)]
    vectors = np.array([vector / np.linalg.norm(vector) for _, vector in found])
    return vectors, [name for name, _ in found]


def test_what_was_learned_tells_passages_that_were_not_learned():
    classifier = trained(*drawn(0))
    vectors, tools = drawn(1)
    likely = [classifier.names[int(np.argmax(classifier.log_shares(vector, classifier.names)))] for vector in vectors]
    assert np.mean([found == tool for found, tool in zip(likely, tools, strict=True)]) > 0.9
    again = trained(*drawn(0))
    assert np.array_equal(again.weights, classifier.weights)


def test_shares_are_of_the_tools_that_are_asked_for_and_others_are_not_known():
    classifier = trained(*drawn(0))
    shares = classifier.log_shares(drawn(1)[0][0], ["door", "kettle", "lamp"])
    assert np.isnan(shares[1]) and np.exp(shares[[0, 2]]).sum() == pytest.approx(1.0) and shares[2] > shares[0]
    assert np.isnan(classifier.log_shares(drawn(1)[0][0], ["kettle"])).all()


def test_a_tool_with_many_passages_is_no_likelier_for_that():
    vectors, tools = drawn(0)
    many = [name == "lamp" for name in tools]
    often = trained(np.concatenate([vectors, *[vectors[many]] * 4]), [*tools, *["lamp"] * (4 * sum(many))])
    once = trained(vectors, tools)
    for vector in drawn(1)[0]:
        assert np.exp(often.log_shares(vector, often.names)) == pytest.approx(np.exp(once.log_shares(vector, often.names)), abs=0.02)


def test_it_is_kept_for_its_sentence_model_only(tmp_path, caplog):
    file, classifier = tmp_path / "classes.npz", trained(*drawn(0))
    assert read_classifier(file, "abc") is None
    save_classifier(file, classifier, "abc")
    kept = read_classifier(file, "abc")
    assert isinstance(kept, ToolClassifier) and kept.names == classifier.names and np.allclose(kept.weights, classifier.weights, atol=0.01)
    assert read_classifier(file, "def") is None
    file.write_bytes(b"broken")
    assert read_classifier(file, "abc") is None and "classifier" in caplog.text
