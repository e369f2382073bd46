"""A campaign in a tracker of experiments: MLflow or Weights & Biases, where a person asks for it. Both are told where by their own variables."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any

from deskhand.errors import DeskhandError
from deskhand.trials.campaigns.campaign import Campaign, Ended, Shard

PACKAGES = {"mlflow": "mlflow", "wandb": "wandb"}


class Tracker(AbstractContextManager["Tracker"]):
    """Open while a campaign runs: its settings are parameters, numbers of each result are metrics by the count of results, the summary comes last."""

    def __init__(self, name: str, campaign: Campaign, shard: Shard) -> None:
        if name not in PACKAGES:
            raise DeskhandError("invalid_input", f"there is no tracker {name!r}; valid: {', '.join(PACKAGES)}.")
        try:
            self._module = import_module(PACKAGES[name])
        except ImportError as error:
            package = PACKAGES[name]
            text = f'Install it: pip install "deskhand[{name}]", or pip install {package}.'
            raise DeskhandError("missing_dependency", f"--track {name} needs the package {package}.", hint=text) from error
        self._name, self._campaign, self._shard, self._count, self._good = name, campaign, shard, 0, 0
        self._run: Any = None

    def __enter__(self) -> Tracker:
        settings = {**self._campaign.settings, "shard": str(self._shard), "cases": len(self._campaign.cases)}
        if self._name == "mlflow":
            self._module.set_experiment(f"deskhand {self._campaign.name}")
            self._run = self._module.start_run()
            self._module.log_params({name: str(value)[:500] for name, value in settings.items()})
        else:
            self._run = self._module.init(project="deskhand", group=self._campaign.name, config=settings)
        return self

    def told(self, ended: Ended) -> None:
        """One more."""
        if ended.result is None:
            return
        self._count += 1
        self._good += bool(ended.result.get("success"))
        numbers = plain_numbers(ended.result) | {"seconds": ended.seconds}
        if "success" in ended.result:
            numbers["success_rate"] = self._good / self._count
        if self._name == "mlflow":
            self._module.log_metrics(numbers, step=self._count)
        else:
            self._run.log(numbers, step=self._count)

    def finish(self, summary: Mapping[str, Any], file: Path | None) -> None:
        """What they mean together, and the file that has it."""
        numbers = {f"summary_{name}": value for name, value in plain_numbers(summary).items()}
        if self._name == "mlflow":
            self._module.log_metrics(numbers)
            if file is not None:
                self._module.log_artifact(str(file))
        else:
            self._run.summary.update(numbers)
            if file is not None:
                self._run.save(str(file), base_path=str(file.parent), policy="now")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._name == "mlflow":
            self._module.end_run("FINISHED" if kind is None else "KILLED")
        else:
            self._run.finish(exit_code=0 if kind is None else 1)


def plain_numbers(data: Mapping[str, Any]) -> dict[str, float]:
    """Numbers and truth values at the top of a result."""
    return {name: float(value) for name, value in data.items() if isinstance(value, bool | int | float)}
