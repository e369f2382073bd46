"""The cases as files of their own, and results as a table in Markdown."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deskhand.bench.instructions.cases import load_cases

COLUMNS = ("brain", "judge", "cases", "right", "`done`", "`unverified`", "false `done`", "held back", "questions", "characters a task")


def export(folder: Path, split: str) -> int:
    """``cases.jsonl`` (id, split, kind, say, scene, want, moves, answer) and the scene files beside it; answers how many."""
    cases = load_cases(split)
    (folder / "scenes").mkdir(parents=True)
    lines = []
    for case in cases:
        shutil.copy(case.file, folder / "scenes" / case.file.name)
        moves = [{"object": move.name, "relation": move.relation, "target": move.target, "position": move.position, "yaw": move.yaw} for move in case.moves]
        lines.append(
            {"id": case.id, "split": case.split, "kind": case.kind, "say": case.say, "scene": f"scenes/{case.file.name}"}
            | {"want": case.want, "moves": moves, "answer": case.answer}
        )
    (folder / "cases.jsonl").write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    return len(cases)


def markdown(results: Sequence[Mapping[str, Any]], kinds: bool = False) -> str:
    """A line for each result, below it its kinds of cases or of lies where ``kinds``."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    for result in results:
        name = f"{result['brain']}{', simulated robot' if result.get('simulated') else ''}, {result['split']}"
        lines.append(_line(name, result["judge"], result["metrics"]))
        lines += [_line(f"– {kind}", "", row) for kind, row in (result["lies"] or result["by"]).items()] if kinds else []
    return "\n".join(lines)


def _line(name: str, judge: str, row: Mapping[str, Any]) -> str:
    counts = [str(row[key]["count"]) for key in ("right", "done", "unverified", "false_done")]
    totals = [f"{row[key]['total']:.0f}" for key in ("vetoes", "questions")]
    return "| " + " | ".join([name, judge, str(row["items"]), *counts, *totals, f"{row['chars']['value']:.0f}"]) + " |"
