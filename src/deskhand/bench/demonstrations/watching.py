"""What videos are understood as, against the sentences of their maker."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from deskhand.arms.config import load_arm
from deskhand.bench.demonstrations.record import SENTENCES
from deskhand.bench.demonstrations.texts import bleu, meteor, rouge
from deskhand.errors import DeskhandError
from deskhand.perception.demonstration.video import read_video
from deskhand.perception.demonstration.watching import watch
from deskhand.trials.campaigns.statistics import wilson


def watched_items(folder: Path, arm: str, told: Callable[[str], None]) -> list[dict[str, Any]]:
    """Each video of a folder of :func:`write_demonstrations`: id, task, truth and answer (sentences), right, confidence, code.

    Raises:
        DeskhandError: ``invalid_input`` when there are none.
    """
    if not (folder / SENTENCES).is_file():
        raise DeskhandError("invalid_input", f"{folder} has no {SENTENCES}.", hint="Make one with `deskhand bench cliport make`.")
    items = []
    for line in (folder / SENTENCES).read_text().splitlines():
        about = json.loads(line)
        answer: list[str] = []
        confidence, code = 0.0, ""
        try:
            found = watch(read_video((folder / about["video"]).read_bytes(), about["video"]), load_arm(arm))
            answer, confidence = [step.text for step in found.steps], found.confidence
        except DeskhandError as error:
            code = error.code
        right = answer == about["sentences"]
        items.append(
            {"id": about["id"], "kind": about["task"], "seed": about["seed"], "truth": about["sentences"], "answer": answer, "right": right}
            | {"confidence": confidence, "code": code}
        )
        told(f"{about['id']} {'right' if right else 'wrong'}")
    return items


def text_scores(items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Videos that are told word by word, with Wilson's interval, BLEU-4 of all sentences, the mean ROUGE-L and METEOR of whole texts."""
    told, true = ([". ".join(item[name]) for item in items] for name in ("answer", "truth"))
    right = sum(bool(item["right"]) for item in items)
    return {
        "videos": len(items),
        "right": {"value": right / max(1, len(items)), "count": right, "interval": list(wilson(right, len(items)))},
        "bleu_4": round(bleu(told, true), 4),
        "rouge_l": round(float(np.mean([rouge(one, other) for one, other in zip(told, true, strict=True)] or [0.0])), 4),
        "meteor": round(float(np.mean([meteor(one, other) for one, other in zip(told, true, strict=True)] or [0.0])), 4),
    }
