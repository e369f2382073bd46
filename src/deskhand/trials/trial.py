"""One trial: a world, an instruction, a robot that tries, a judgement, a record."""

from __future__ import annotations

import shutil
import time
from dataclasses import asdict, replace
from itertools import count
from pathlib import Path
from typing import Any

from deskhand.errors import DeskhandError
from deskhand.recording.episode.record import robots_word, write_record
from deskhand.sim.reality.file import to_dict
from deskhand.sim.spec import WorldSpec
from deskhand.tasks import load_task
from deskhand.tasks.base import Word
from deskhand.tasks.freeform import final_objects, first_objects
from deskhand.trials.base import Attempt, Progress, ProgressCallback, TrialOptions, prepare
from deskhand.trials.person import Person
from deskhand.world.history.recorder import MEMORY_FILE


def run_trial(options: TrialOptions, folder: Path, progress: ProgressCallback, only_successes: bool = False) -> dict[str, Any]:
    """Run one trial and leave its record in ``folder``; returns what is in its ``result.json``.

    Whatever happens to the robot is in the result (``error_code``); everything that was started is stopped when this returns. ``only_successes``: of a
    trial that did not succeed the folder is removed, and no samples for learning are drawn.

    Raises:
        DeskhandError: for bad options, before anything is started.
        KeyboardInterrupt: after everything was stopped and the record written.
    """
    world, instruction = prepare(options)
    options = replace(options, arm=world.arm)  # a scene file may name its own
    folder = Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if options.memory is None:
        for old in folder.glob(f"{MEMORY_FILE}*"):  # of another run: its world was another
            old.unlink()
    attempt = Attempt()
    person = Person(() if options.scene is not None or options.instruction is not None else load_task(options.task, options.arm).remarks(options.seed))
    if options.inbox is None and person.speaks:
        options = replace(options, inbox=person)

    def tell(line: Progress) -> None:
        progress(line)
        person.hears(line)

    try:
        if options.local:
            from deskhand.trials.local import run_local

            run_local(options, world, instruction, folder, tell, attempt, person)
        else:
            from deskhand.trials.ros import run_ros

            run_ros(options, world, instruction, folder, tell, attempt, person)
    except DeskhandError as error:
        attempt.failed(error.code, str(error))
    except KeyboardInterrupt:
        attempt.failed("cancelled", "ended by Ctrl-C.")
        _record(options, world, instruction, folder, attempt)
        raise
    attempt.questions, attempt.held_then = person.questions, person.held_then
    result = _record(options, world, instruction, folder, attempt)
    if only_successes and not result["success"]:
        shutil.rmtree(folder)
        return result | {"episode": "", "report": ""}
    if attempt.sampler is not None:
        attempt.sampler.write(folder)
    return result


def _record(options: TrialOptions, world: WorldSpec, instruction: str, folder: Path, attempt: Attempt) -> dict[str, Any]:
    """Judge, and write ``result.json`` and ``report.html``."""
    return write_record(folder, judge(options, world, instruction, attempt))


def judge(options: TrialOptions, world: WorldSpec, instruction: str, attempt: Attempt) -> dict[str, Any]:
    """The result as JSON can say it; the scorer decides on success where there is one and it could see the end."""
    start, end = attempt.start, attempt.end
    told = robots_word(
        instruction=instruction,
        arm=options.arm,
        brain=options.brain,
        mode=options.mode,
        success=attempt.success,
        code=attempt.code,
        summary=attempt.summary,
        message=attempt.message,
        tool_calls=attempt.tool_calls,
        errors=attempt.errors,
        wall=attempt.wall,
    )
    result: dict[str, Any] = {
        **told,
        "task": "" if options.scene else options.task,
        "scene": str(options.scene) if options.scene else "",
        "seed": None if options.scene else options.seed,
        "local": options.local,
        "fault": options.fault,
        "driver": options.driver,
        "servos": options.servos,
        "hand": attempt.hand.to_json() if attempt.hand is not None else None,
        "sim": options.sim,
        "reality": to_dict(world.reality) if world.reality is not None else None,
        "samples": attempt.sampler.count if attempt.sampler is not None else 0,
        "fault_happened": attempt.fault_happened,
        "skill_calls": attempt.skill_calls,
        "false_claims": list(attempt.false_claims),
        "weighings": attempt.weighings,
        "readings": [list(pair) for pair in attempt.readings],
        "false_done": False,
        "sim_s": round(end.time - start.time, 3) if start and end else None,
        "questions": list(attempt.questions),
        "group": "",
        "objects": [],
        "problems": [],
        "first_objects": first_objects(world, start) if start else [],
        "final_objects": final_objects(world, end) if end else [],
        "node_output": attempt.node_output or {},
    }
    if options.scene is None and options.instruction is None:
        result.update(success=False, score=0.0)
        if start and end:
            task = load_task(options.task, options.arm)
            word = Word(attempt.success, attempt.code, attempt.summary, attempt.questions, attempt.held_then, attempt.weighings)
            score = task.score(options.seed, start, end, word)
            result["group"] = task.group(options.seed)
            result["false_done"] = attempt.success and not score.success
            result.update(success=score.success, score=score.score, objects=[asdict(row) for row in score.objects], problems=list(score.problems))
            if not score.success and not result["error_code"]:
                wrong = [f"{row.name} {row.reason}" for row in score.objects if not row.right]
                result.update(error_code="task_incomplete", error_message="; ".join([*wrong, *score.problems]))
    return result


def episode_folder(options: TrialOptions, suffix: str = "") -> Path:
    """A new folder below ``./episodes``, named by time and what is tried; two that begin in the same second have one each."""
    what = options.scene.stem if options.scene else f"{options.task}_{options.seed}"
    name = "_".join(filter(None, (time.strftime("%Y-%m-%d_%H-%M-%S"), what, suffix)))
    for number in count(1):
        folder = Path("episodes") / (name if number == 1 else f"{name}_{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        return folder
    raise AssertionError("unreachable")
