"""A tiny training: the loss falls, the file says the same as the network, a checkpoint goes on where it was. Only where torch is installed."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
import torch

from deskhand.bench.segmenter import train
from deskhand.bench.segmenter.examples import Example
from deskhand.bench.segmenter.network import Network, count, export
from deskhand.bench.segmenter.options import Options
from deskhand.bench.segmenter.train import Batches, Learner
from deskhand.errors import DeskhandError
from deskhand.perception.detectors.onnx_model import OnnxModel
from deskhand.perception.learned.inputs import PLANES
from deskhand.perception.learned.segmenter import Segmenter, metadata_of

pytestmark = pytest.mark.filterwarnings("ignore")  # the exporter's own


def stripes():
    """Objects side by side, each as high as its number."""
    labels = np.repeat(np.arange(6, dtype=np.uint8), 12)[None].repeat(64, axis=0)
    planes = np.zeros((len(PLANES), *labels.shape), np.float16)
    planes[0], planes[1], planes[2] = labels > 0, 1, labels / 5
    return [Example(planes, labels)]


def options(tmp_path, **changed):
    return replace(Options(1, 1, 25, 5.0, tmp_path / "s.onnx", tmp_path, batch=2, side=64), **changed)


def test_the_loss_falls(tmp_path, monkeypatch):
    monkeypatch.setattr(train, "TESTS", 4)
    learner = Learner(options(tmp_path, steps=60))
    before = learner.measured(stripes())[0]
    assert learner.learn(stripes(), lambda text: None) and learner.step == 60
    after, one, _ = learner.measured(stripes())
    assert after < 0.8 * before and one > 0.8


def test_processes_beside_it_change_nothing_of_what_is_learnt(tmp_path):
    learnt = []
    for jobs in (1, 2):
        learner = Learner(options(tmp_path, steps=4, jobs=jobs))
        assert learner.learn(stripes(), lambda text: None)
        learnt.append(learner.network.state_dict())
    assert all(torch.equal(weights, learnt[1][name]) for name, weights in learnt[0].items())


def test_the_file_says_what_the_network_says(tmp_path):
    torch.manual_seed(2)
    network = Network().eval()
    assert count(network) < 3_000_000
    export(network, tmp_path / "n.onnx", metadata_of())
    assert (tmp_path / "n.onnx").stat().st_size < 3_000_000
    Segmenter(tmp_path / "n.onnx", 0.5).check()
    for shape in ((64, 64), (48, 112)):
        planes = np.random.default_rng(3).standard_normal((1, len(PLANES), *shape)).astype(np.float32)
        (said,) = OnnxModel(tmp_path / "n.onnx").run({"planes": planes})
        with torch.no_grad():
            expected = network(torch.from_numpy(planes)).numpy()
        assert said.shape == expected.shape and np.abs(said - expected).max() < 1e-4


def test_it_goes_on_from_a_checkpoint_of_the_same_options(tmp_path):
    learner = Learner(options(tmp_path))
    for step in range(4):
        learner.learn_from(*Batches(stripes(), options(tmp_path))[step])
        learner.step += 1
    learner.save()
    again = Learner(options(tmp_path))
    assert again.step == 4
    for name, weights in learner.network.state_dict().items():
        assert torch.equal(weights, again.network.state_dict()[name])
    with pytest.raises(DeskhandError, match="other options"):
        Learner(options(tmp_path, rate=1.0))


def test_ctrl_c_leaves_a_checkpoint(tmp_path):
    learner = Learner(options(tmp_path))

    def broken_off(text):
        raise KeyboardInterrupt

    assert not learner.learn(stripes(), broken_off)
    assert learner.file.is_file() and Learner(options(tmp_path)).step == 10
