"""``deskhand bench libero`` and ``deskhand bench robosuite``: worlds that others made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from deskhand.commands.campaign import CampaignOptions, campaign_options

EPISODES = Path("episodes")


def install() -> None:
    """Make the environment of LIBERO-PRO and robosuite in the user's cache; licences are shown first. It takes 2.1 GB."""
    from rich.console import Console

    from deskhand.bench.libero.install import LICENCES, home
    from deskhand.bench.libero.install import install as make

    console = Console(highlight=False)
    console.print(LICENCES)
    with console.status("installing") as status:
        make(status.update)
    console.print(f"ready in {home()}")


@campaign_options
def run(
    suite: Annotated[list[str], typer.Option(help="libero_object, libero_spatial_swap, …; may be given several times.")],
    tasks: Annotated[str, typer.Option(help="Numbers and ranges, as in 0-4,7.")] = "0-9",
    states: Annotated[str, typer.Option(help="Stored starts of each task; 0 to 4 are for development, others for judging.")] = "0-4",
    brain: Annotated[str, typer.Option(help="Who decides; a profile of config/llm.yaml, or offline.")] = "offline",
    taught: Annotated[bool, typer.Option(help="Whether the objects were taught by pictures of their meshes.")] = True,
    sensor: Annotated[str, typer.Option(help="Errors of the camera: none, or a name of config/reality (mild, hard); a seed for each state.")] = "none",
    ros: Annotated[bool, typer.Option("--ros", help="Through the real nodes over DDS, in place of one process.")] = False,
    episodes: Annotated[Path, typer.Option(help="Folder for the records of the episodes.")] = EPISODES,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write all numbers; see docs/libero.md.")] = None,
    *,
    how: CampaignOptions,
) -> None:
    """Tasks of LIBERO and LIBERO-PRO with the whole stack, judged by the environment's own test."""
    from deskhand.bench.libero.run import libero_campaign

    _show(how.run(libero_campaign(suite, tasks, states, brain, taught, episodes, sensor, ros), json_file, describe))


@campaign_options
def robosuite(
    task: Annotated[list[str], typer.Option(help="stack, milk, can, cereal, bread; may be given several times.")],
    seeds: Annotated[str, typer.Option(help="Numbers and ranges, as in 0-49.")] = "0-4",
    brain: Annotated[str, typer.Option(help="Who decides; a profile of config/llm.yaml, or offline.")] = "offline",
    taught: Annotated[bool, typer.Option(help="Whether the objects were taught by pictures of their meshes.")] = True,
    sensor: Annotated[str, typer.Option(help="Errors of the camera: none, or a name of config/reality (mild, hard); a seed for each seed.")] = "none",
    ros: Annotated[bool, typer.Option("--ros", help="Through the real nodes over DDS, in place of one process.")] = False,
    episodes: Annotated[Path, typer.Option(help="Folder for the records of the episodes.")] = EPISODES,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write all numbers; see docs/libero.md.")] = None,
    *,
    how: CampaignOptions,
) -> None:
    """Robosuite's own pick-and-place tasks with the whole stack, judged by the environment's own test."""
    from deskhand.bench.libero.run import robosuite_campaign

    _show(how.run(robosuite_campaign(task, seeds, brain, episodes, taught, ros, sensor), json_file, describe))


def describe(result: dict[str, Any]) -> str:
    """A short line about an episode."""
    return f"{result['id']}: {'done in ' + str(result['first_step']) + ' steps' if result['success'] else result['failure']}"


def _show(ran: Any) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("task", "done", "of")
    for name, row in ran.summary.get("tasks", {}).items():
        table.add_row(name, str(row["successes"]), str(row["episodes"]))
    console = Console(highlight=False)
    console.print(table)
    if failures := ran.summary.get("failures"):
        console.print("failures: " + ", ".join(f"{name} {count}" for name, count in failures.items()))
    if ran.failed:
        raise typer.Exit(1)


libero = typer.Typer(help="LIBERO and LIBERO-PRO: tasks that others made.", no_args_is_help=True)
libero.command("install")(install)
libero.command("run")(run)
