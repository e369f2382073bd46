"""Trials of many seeds as a campaign: run here, in shards or on a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from deskhand.trials.base import Progress, TrialOptions
from deskhand.trials.campaigns.campaign import Campaign, Case
from deskhand.trials.campaigns.reporting import tell
from deskhand.trials.trial import run_trial
from deskhand.trials.trials import summarise

NOT_SENT = ("inbox", "view")
"""Fields of the options that mean something in the process of the command alone; ``trial`` has neither."""
PATHS = ("scene", "memory")
NAME_OR_FILE = ("arm", "servos", "reality")


def options_to_json(options: TrialOptions) -> dict[str, Any]:
    """As plain data."""
    data = {each.name: getattr(options, each.name) for each in fields(options) if each.name not in NOT_SENT}
    lists = ("files", "without")
    return {name: str(value) if isinstance(value, Path) else [str(each) for each in value] if name in lists else value for name, value in data.items()}


def options_from_json(data: Mapping[str, Any]) -> TrialOptions:
    """The options that :func:`options_to_json` was given."""
    paths = {name: Path(data[name]) for name in PATHS if data.get(name) is not None}
    return TrialOptions(**{**data, **paths, "files": tuple(map(Path, data["files"])), "without": tuple(data.get("without", ()))})


def trial_campaign(options: TrialOptions, seeds: Sequence[int], folder: Path, only_successes: bool = False) -> Campaign:
    """A trial for each seed; the records go into ``folder``, which all machines that run them must see, in a folder ``seed_N`` each.

    ``only_successes``: records of trials that did not succeed are removed again.
    """
    sent = _from_anywhere(options)
    settings = {name: value for name, value in options_to_json(options).items() if name != "seed"} | {"only_successes": only_successes}
    cases = [
        Case(
            f"seed_{seed}",
            {"options": options_to_json(replace(sent, seed=seed)), "folder": str(folder.resolve() / f"seed_{seed}"), "only_successes": only_successes},
        )
        for seed in seeds
    ]
    return Campaign("trial", settings, cases, run_one, summarise_settings)


def _from_anywhere(options: TrialOptions) -> TrialOptions:
    """With the full names of the files that they name: a worker may be somewhere else."""
    named: dict[str, Any] = {name: str(Path(getattr(options, name)).resolve()) for name in NAME_OR_FILE if Path(getattr(options, name)).is_file()}
    return replace(options, scene=options.scene.resolve() if options.scene else None, **named)


def run_one(case: Case) -> dict[str, Any]:
    """Run a trial; what :func:`run_trial` gives."""
    return run_trial(options_from_json(case.arguments["options"]), Path(case.arguments["folder"]), _tell, bool(case.arguments["only_successes"]))


def _tell(progress: Progress) -> None:
    tell(f"{progress.tool} {progress.text}".strip())


def summarise_settings(settings: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The JSON of ``deskhand trial``."""
    name = settings["scene"] if settings["scene"] is not None else settings["task"]
    return summarise(name, settings["brain"], settings["mode"], results)
