"""Many attacks and a table: ``python test/e2e/attacks/run.py kills --attacks 60 --seed 1``; ``--json FILE`` also writes every one of them."""

import argparse
import json
import shutil
import sys
import tempfile
import traceback
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path


def attacks(kind, count, seed, root):
    """Runs of that kind, one after the other; an exception of the attack itself is yielded as its text."""
    if kind == "kills":
        from kills import draw, kill

        for index in range(count):
            folder = root / str(index)
            try:
                run = kill(folder, *draw(seed, index))
            except Exception:
                yield traceback.format_exc()
                continue
            if run.good:
                shutil.rmtree(folder, ignore_errors=True)
            yield run
        return
    from clocks import forgeries
    from freezes import freezes

    yield from (freezes if kind == "freezes" else forgeries)(count, seed, root)


def table(runs):
    """One line for each node."""
    rows = defaultdict(list)
    for run in runs:
        rows[run.node].append(run)
    rows["all"] = list(runs)
    lines = [f"{'node':13}{'attacks':>8}{'good':>6}{'named':>7}{'went on':>9}{'slowest s':>11}{'no answer':>11}{'unread':>8}{'moved s':>9}"]
    for node, of in rows.items():
        went_on = [run for run in of if getattr(run, "went_on", False) or getattr(run, "ended_before", False)]
        answered = [run.answer for run in of if run.answer is not None]
        silent = sum(run.answer is None and run not in went_on for run in of)
        unread = sum(not run.readable for run in of if not getattr(run, "ended_before", False))
        counts = f"{len(of):8d}{sum(run.good for run in of):6d}{sum(run.named for run in of):7d}{len(went_on):9d}"
        lines.append(f"{node:13}{counts}{max(answered, default=0.0):11.2f}{silent:11d}{unread:8d}{max((run.moved for run in of), default=0.0):9.2f}")
    return "\n".join(lines)


def say(text):
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=("kills", "freezes", "clocks"))
    parser.add_argument("--attacks", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--keep", type=Path, help="folder for the records of those that went wrong")
    arguments = parser.parse_args()
    root = arguments.keep or Path(tempfile.mkdtemp(prefix="deskhand_attacks_"))
    runs, broken = [], 0
    for run in attacks(arguments.kind, arguments.attacks, arguments.seed, root):
        if isinstance(run, str):
            broken += 1
            say(run)
            continue
        runs.append(run)
        say(f"{'good' if run.good else 'BAD ':5}{run}")
        if arguments.json:
            arguments.json.write_text(json.dumps([{**asdict(each), "good": each.good} for each in runs], indent=1))
    say(table(runs))
    say(f"{sum(run.good for run in runs)} of {arguments.attacks} good, {broken} could not be made; records of the others: {root}")
    return 0 if not broken and all(run.good for run in runs) else 1


if __name__ == "__main__":
    sys.exit(main())
