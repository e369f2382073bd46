"""Rendered piles: the same from the same seed, objects at rest above the desk, labels where the depth shows objects."""

import numpy as np

from deskhand.bench.segmenter import examples as made
from deskhand.bench.segmenter.batches import ACROSS, batch_of
from deskhand.bench.segmenter.examples import Example, example_of, examples, view_of
from deskhand.bench.segmenter.pictures import pile_frames
from deskhand.perception.learned.affinities import STRIDE
from deskhand.perception.learned.inputs import PLANES

SEED = 300003


def test_the_same_seed_gives_the_same_bytes_and_labels_lie_on_what_stands_out():
    ((frame, owners),), ((again, whose),) = list(pile_frames(SEED, 1)), list(pile_frames(SEED, 1))
    assert np.array_equal(frame.color, again.color) and np.array_equal(frame.depth, again.depth, equal_nan=True) and np.array_equal(owners, whose)
    ((other, _),) = list(pile_frames(SEED + 1, 1))
    assert other.color.shape != frame.color.shape or not np.array_equal(other.color, frame.color)
    view = view_of(frame)
    example = example_of(view, owners, 1.0)
    height, objects = example.planes[PLANES.index("height")].astype(float), example.planes[0] > 0
    assert len(np.unique(example.labels)) > 2
    assert (objects & (example.labels > 0)).sum() > 0.8 * (example.labels > 0).sum()
    assert np.median(height[example.labels > 0]) > 0.05


def test_examples_are_kept_and_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(made, "SHARD", 1)
    monkeypatch.setattr(made, "VIEWS", 1)
    told: list[int] = []
    first = list(examples(SEED, 1, tmp_path, told.append))
    (file,) = tmp_path.glob("*.npz")
    monkeypatch.setattr(made, "pile_examples", lambda seed: 1 / 0)  # nothing is rendered again
    second = list(examples(SEED, 1, tmp_path, told.append))
    assert told == [1, 1] and file.name == f"piles_{SEED}.npz"
    assert np.array_equal(first[0].planes, second[0].planes) and np.array_equal(first[0].labels, second[0].labels)


def test_batches_keep_labels_with_their_pixels():
    random = np.random.default_rng(1)
    labels = random.integers(0, 4, (90, 70)).astype(np.uint8)
    planes = np.zeros((len(PLANES), 90, 70), np.float16)
    planes[1], planes[PLANES.index("up")] = 1, labels / 4
    planes[ACROSS] = labels / 8
    found, whose = batch_of([Example(planes, labels)], 6, 64, np.random.default_rng(2))
    assert found.shape == (6, len(PLANES), 64, 64) and whose.shape == (6, 32, 32)
    seen = found[:, :, ::STRIDE, ::STRIDE]
    assert np.allclose(seen[:, PLANES.index("up")], whose / 4)
    signs = [np.sign(seen[number, ACROSS][whose[number] > 0]) for number in range(6)]
    assert all(len(np.unique(sign)) == 1 for sign in signs) and len({float(sign[0]) for sign in signs}) == 2  # some are mirrored
