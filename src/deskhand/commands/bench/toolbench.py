"""``deskhand bench toolbench make|run|check|show``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from deskhand.commands.bench.results import result_of

toolbench = typer.Typer(
    help="How well tools are used: need, selection, execution, chain; every label settled by running (docs/toolbench.md).", no_args_is_help=True
)

Kinds = Annotated[list[str] | None, typer.Option("--kind", help="need, selection, execution or chain; may be given again. Default: all.")]
Folder = Annotated[Path | None, typer.Argument(help="A folder that `make` wrote. Default: the items for development that come with the package.")]


@toolbench.command()
def make(
    folder: Annotated[Path, typer.Argument(help="Where to write items.jsonl and pictures/; items that are there stay and count.")],
    kind: Kinds = None,
    count: Annotated[int, typer.Option(min=2, help="How many items of each kind.")] = 40,
    seed: Annotated[int, typer.Option(min=0, help="The first seed; those below 1000 are for development.")] = 0,
) -> None:
    """Draw decisions and settle what is right by running the alternatives in copies of each state."""
    from deskhand.bench.toolbench.items import KINDS
    from deskhand.bench.toolbench.make import make as make_items
    from deskhand.tools.base import load_tools

    registry = load_tools(others=False)[0]
    typer.echo(f"{make_items(registry, folder, kind or KINDS, count, seed, typer.echo)} items in {folder}")


@toolbench.command()
def run(
    folder: Folder = None,
    brain: Annotated[str, typer.Option(help="chooser (no language model), trivial (all trivial answers), or a model profile.")] = "chooser",
    kind: Kinds = None,
    blind: Annotated[bool, typer.Option("--blind", help="Show the model no pictures.")] = False,
    shuffle: Annotated[bool, typer.Option("--shuffle", help="Give the candidates in another order.")] = False,
    words: Annotated[str, typer.Option(help="Say the items in another set of words: dev, earlier or heldout.")] = "",
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the answers and numbers; see docs/toolbench.md.")] = None,
) -> None:
    """Ask for every item, and hold the answers against what was settled."""
    from deskhand.bench.toolbench.chooser import Chooser
    from deskhand.bench.toolbench.items import DEV, KINDS, read_items
    from deskhand.bench.toolbench.prompts import Asked
    from deskhand.bench.toolbench.rewording import reworded
    from deskhand.bench.toolbench.run import TRIVIAL, Answerer, Trivial, markdown, shuffled
    from deskhand.bench.toolbench.run import run as run_items
    from deskhand.llm import make_model
    from deskhand.tools.base import load_tools

    where = folder or DEV
    items = read_items(where, kind or KINDS)
    items = reworded(items, words) if words else items
    items = shuffled(items) if shuffle else items
    registry = load_tools(others=False)[0]
    answerers: list[Answerer]
    if brain == "trivial":
        answerers = [Trivial(name) for name in TRIVIAL]
    else:
        answerers = [Chooser(registry) if brain == "chooser" else Asked(make_model(brain), registry, where, blind)]
    results = [run_items(registry, items, answerer, lambda text: typer.echo(text, err=True)) for answerer in answerers]
    if json_file is not None:
        json_file.write_text(json.dumps(results[0] if len(results) == 1 else {"bench": "toolbench", "results": results}, indent=1, default=str))
    typer.echo(markdown(results))


@toolbench.command()
def check(
    folder: Folder = None,
    kind: Kinds = None,
    count: Annotated[int, typer.Option(min=1, help="How many items, drawn.")] = 20,
    seed: Annotated[int, typer.Option(min=1, help="Of the noise, and of which items.")] = 1,
) -> None:
    """Settle items again with other noise in all pictures. Exit code 1 when a label is another one."""
    import numpy as np

    from deskhand.bench.toolbench.items import DEV, KINDS, read_items
    from deskhand.bench.toolbench.judge import verified
    from deskhand.errors import DeskhandError
    from deskhand.tools.base import load_tools

    items = read_items(folder or DEV, kind or KINDS)
    registry = load_tools(others=False)[0]
    drawn = sorted(np.random.default_rng(seed).permutation(len(items))[:count].tolist())
    wrong = []
    for number in drawn:
        try:
            same = verified(registry, items[number], seed)
        except DeskhandError as error:
            typer.echo(f"{items[number].id}: {error.message}", err=True)
            same = False
        typer.echo(f"{items[number].id}: {'the same' if same else 'another label'}", err=True)
        wrong += [] if same else [items[number].id]
    typer.echo(f"{len(wrong)} of {len(drawn)} labels are others with noise {seed}: {', '.join(wrong) or 'none'}.")
    if wrong:
        raise typer.Exit(1)


@toolbench.command()
def show(files: Annotated[list[Path], typer.Argument(help="JSON files of `run`.")]) -> None:
    """Results side by side with the paper's, as a table in Markdown."""
    from deskhand.bench.toolbench.run import markdown

    results = [result_of(file, "toolbench") for file in files]
    typer.echo(markdown([each for result in results for each in result.get("results", [result])]))
