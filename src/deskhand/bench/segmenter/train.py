"""Learns from rendered piles, writes checkpoints on the way and an ONNX file at the end. Needs torch (the extra ``train``)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy
from torch.utils.data import DataLoader

from deskhand.bench.segmenter.batches import batch_of
from deskhand.bench.segmenter.examples import Example, examples
from deskhand.bench.segmenter.network import Network, count, export
from deskhand.bench.segmenter.options import HELD_OUT, Options
from deskhand.errors import DeskhandError
from deskhand.perception.learned.affinities import OFFSETS, shifted
from deskhand.perception.learned.segmenter import META, metadata_of

WARM = 0.05  # share of the steps in which the rate rises
TESTS = 40  # batches that are measured with


@dataclass(frozen=True)
class Trained:
    """``loss``: mean on what was held out; ``one``, ``two``: shares of the pairs of pixels of one and of two objects that are told right there."""

    steps: int
    parameters: int
    loss: float
    one: float
    two: float
    whole: bool


def train(options: Options, told: Callable[[str], None]) -> Trained:
    """Render what is missing, learn, and write ``options.out``. A checkpoint beside it is gone on from where it was of the same options. After Ctrl-C, or when
    the minutes are over, what was learnt so far is written.

    Raises:
        DeskhandError: ``missing_dependency`` without off-screen rendering; ``invalid_input`` where there are too few frames or no such device.
    """
    torch.set_num_threads(1)
    if options.device != "cpu" and not torch.cuda.is_available():
        raise DeskhandError("invalid_input", f"torch has no device {options.device!r} here.", hint="Use --device cpu, or a build of torch for this GPU.")
    rendered = examples(options.seed, options.frames, options.folder, lambda number: told(f"{number} of {options.frames} frames"), options.jobs)
    made = list(rendered)[: options.frames]
    kept = len(made) - max(1, round(HELD_OUT * len(made)))
    if kept < 1:
        raise DeskhandError("invalid_input", f"{len(made)} frames are too few to learn from.", hint="Ask for more --frames.")
    learner = Learner(options)
    whole = learner.learn(made[:kept], told)
    loss, one, two = learner.measured(made[kept:])
    export(learner.network.cpu(), options.out, metadata_of() | {f"{META}steps": str(learner.step), f"{META}seed": str(options.seed)})
    if whole:
        learner.file.unlink(missing_ok=True)
    return Trained(learner.step, count(learner.network), loss, one, two, whole)


class Batches:
    """The batch of each step: planes (N, P, side, side) and labels (N, side / STRIDE, side / STRIDE)."""

    def __init__(self, made: list[Example], options: Options) -> None:
        self._made, self._options = made, options

    def __getitem__(self, step: int) -> tuple[Tensor, Tensor]:
        options = self._options
        planes, labels = batch_of(self._made, options.batch, options.side, np.random.default_rng([7005, options.seed, step]))
        return torch.from_numpy(planes), torch.from_numpy(labels.astype(np.int64))


class Learner:
    """A network and how far it is."""

    def __init__(self, options: Options) -> None:
        torch.manual_seed(options.seed)
        self.network, self.step, self.spent = Network().to(options.device), 0, 0.0
        self.file = options.out.with_suffix(".checkpoint")
        self._options = options
        self._optimizer = torch.optim.AdamW(self.network.parameters(), lr=options.rate, weight_decay=1e-3)
        if self.file.is_file():
            self._restore()

    def learn(self, made: list[Example], told: Callable[[str], None]) -> bool:
        """All steps that are left; False where Ctrl-C came before they were over."""
        options = self._options
        self.network.train()
        begun, saved, recent = time.monotonic() - self.spent, time.monotonic(), 0.0
        try:
            for planes, labels in self._batches(made):
                if (part := self._part()) >= 1:
                    break
                for group in self._optimizer.param_groups:
                    group["lr"] = options.rate * min(1.0, (part + 1e-3) / WARM) * 0.5 * (1 + math.cos(math.pi * part))
                loss = self.learn_from(planes, labels)
                self.step, self.spent = self.step + 1, time.monotonic() - begun
                recent = loss if self.step == 1 else 0.99 * recent + 0.01 * loss
                if self.step % 10 == 0:
                    told(f"step {self.step} of {options.steps}, {self.spent / 60:.1f} min, loss {recent:.4f}")
                if time.monotonic() - saved > options.every:
                    self.save()
                    saved = time.monotonic()
        except KeyboardInterrupt:
            self.save()
            return False
        return True

    def _batches(self, made: list[Example]) -> Iterable[tuple[Tensor, Tensor]]:
        """Those of the steps that are left, cut out beside learning where more than one process may."""
        options = self._options
        cut = Batches(made, options)
        left = range(self.step, options.steps)
        if options.jobs == 1:
            return (cut[step] for step in left)
        batches: Iterable[tuple[Tensor, Tensor]] = DataLoader(cut, batch_size=None, sampler=left, num_workers=options.jobs - 1, prefetch_factor=4)
        return batches

    def learn_from(self, planes: Tensor, labels: Tensor) -> float:
        """One step; the loss before it."""
        planes, labels = planes.to(self._options.device), labels.to(self._options.device)
        loss = losses(self.network(planes), planes, labels, self._options.apart)[0]
        self._optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 5.0)
        self._optimizer.step()
        return float(loss.detach())

    def measured(self, held: list[Example]) -> tuple[float, float, float]:
        """Loss, and the shares of pairs of one and of two objects that are right, on examples; see Trained."""
        self.network.eval()
        total, right, all_of = 0.0, np.zeros(2), np.zeros(2)
        random = np.random.default_rng([7006, self._options.seed])
        with torch.no_grad():
            for _ in range(TESTS):
                planes, labels = batch_of(held, self._options.batch, self._options.side, random)
                inputs, whose = (torch.from_numpy(part).to(self._options.device) for part in (planes, labels.astype(np.int64)))
                loss, told, same = losses(self.network(inputs), inputs, whose, self._options.apart)
                total += float(loss)
                for number, kind in enumerate((True, False)):
                    chosen = same == kind
                    all_of[number] += int(chosen.sum())
                    right[number] += int(((told > 0) == same)[chosen].sum())
        shares = right / np.maximum(all_of, 1)
        return total / TESTS, float(shares[0]), float(shares[1])

    def save(self) -> None:
        """Write the checkpoint."""
        part = self.file.with_suffix(".part")
        state: dict[str, Any] = {"options": self._told(), "step": self.step, "spent": self.spent}
        torch.save(state | {"network": self.network.state_dict(), "optimizer": self._optimizer.state_dict()}, part)
        part.rename(self.file)

    def _restore(self) -> None:
        state = torch.load(self.file, weights_only=True, map_location=self._options.device)
        if state["options"] != self._told():
            raise DeskhandError("invalid_input", f"{self.file} is of a training with other options.", hint="Delete it, or give another --out.")
        self.network.load_state_dict(state["network"])
        self._optimizer.load_state_dict(state["optimizer"])
        self.step, self.spent = int(state["step"]), float(state["spent"])

    def _told(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self._options).items() if key not in ("out", "folder", "every", "minutes", "jobs", "device")}

    def _part(self) -> float:
        """How much of the training is over, 0..1."""
        options = self._options
        return max(self.step / options.steps, self.spent / (60 * options.minutes))


def losses(logits: Tensor, planes: Tensor, labels: Tensor, apart: float) -> tuple[Tensor, Tensor, Tensor]:
    """The loss; the logits (K,) of all pairs of pixels that both show objects, and whether it is the same (K,)."""
    stride = planes.shape[-1] // labels.shape[-1]
    valid = planes[:, 1, ::stride, ::stride] > 0
    objects = cross_entropy(logits[:, 0][valid], (labels > 0).float()[valid])
    told, same = [], []
    for number, offset in enumerate(OFFSETS, start=1):
        begin, end = shifted(labels.shape[1], labels.shape[2], offset)
        one, other = labels[:, begin[0], begin[1]], labels[:, end[0], end[1]]
        both = (one > 0) & (other > 0)
        told.append(logits[:, number, begin[0], begin[1]][both])
        same.append((one == other)[both])
    pairs, equal = torch.cat(told), torch.cat(same)
    weight = torch.where(equal, 1.0, apart)
    affinity = (cross_entropy(pairs, equal.float(), reduction="none") * weight).sum() / weight.sum().clamp(min=1.0)
    return 0.3 * objects + affinity, pairs.detach(), equal
