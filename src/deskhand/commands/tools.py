"""``deskhand tools``: list, search, show, call, validate, new, stats."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from deskhand.errors import DeskhandError

if TYPE_CHECKING:
    from deskhand.bench.tools.base import Scenario
    from deskhand.bench.tools.run import Row
    from deskhand.etp.base import ToolSummary
    from deskhand.etp.registry import Registry

tools = typer.Typer(help="The tools that an agent can use.", no_args_is_help=True)
console = Console()

Json = Annotated[Path | None, typer.Option("--json", help="Write the result to this file as JSON.")]
Group = Annotated[str, typer.Option(help="Only this group: perception, cognition, reasoning or execution.")]
Unit = Annotated[str, typer.Option(help="Only this unit of a group, for example grasping.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.add_typer(tools, name="tools")


@tools.command("list")
def list_tools(group: Group = "", unit: Unit = "", json_file: Json = None) -> None:
    """List all tools. JSON: {"tools": [{"name", "group", "unit", "summary", "effects", "needs", "mode", "version", "source"}]}."""
    registry = _registry()
    _show_summaries(registry, registry.search("", group, unit), json_file)


@tools.command()
def search(
    text: Annotated[str, typer.Argument(help="What you want to do, in words.")],
    group: Group = "",
    unit: Unit = "",
    limit: Annotated[int, typer.Option(min=1, help="At most as many.")] = 5,
    json_file: Json = None,
) -> None:
    """Find tools by what they can do, best first. JSON: as list, with "score", and "ranked_by": what was compared."""
    registry = _registry()
    _show_summaries(registry, registry.search(text, group, unit, limit), json_file, registry.ranked_by)


@tools.command()
def show(name: str, json_file: Json = None) -> None:
    """Show the whole card of a tool. JSON: the card."""
    card = _registry().get(name).card
    _write(json_file, card.to_json())
    console.print(f"[bold]{card.name}[/bold] {card.version}   {card.group} / {card.unit}   from {escape(card.source)}")
    console.print(f"{escape(card.summary)}\n\n[bold]When[/bold]  {escape(card.when_to_use)}\n[bold]Limits[/bold]  {escape(card.limits)}", highlight=False)
    console.print(f"[bold]Effects[/bold]  {card.effects}   [bold]needs[/bold] {', '.join(card.needs) or 'nothing'}   [bold]at most[/bold] {card.timeout:g} s")
    console.print(f"[bold]Only when[/bold]  {', '.join(card.preconditions) or 'always'}   [bold]then[/bold] {', '.join(card.postconditions) or '-'}")
    runs = "in a worker process" if card.isolated else f"in the robot's process{f' ({card.in_process})' if card.in_process else ''}"
    console.print(f"[bold]Runs[/bold]  {escape(runs)}", highlight=False)
    for title, schema in (("Arguments", card.input_schema), ("Result", card.output_schema)):
        console.print(f"[bold]{title}[/bold]")
        console.print_json(json.dumps(schema))
    for example in card.examples:
        call = f"{example.situation}: deskhand tools call {card.name} '{json.dumps(example.arguments)}'"
        console.print(f"[bold]Example[/bold] {escape(call)}", highlight=False)


@tools.command()
def call(
    name: str,
    arguments: Annotated[str, typer.Argument(help="The arguments as a JSON object.")] = "{}",
    json_file: Json = None,
) -> None:
    """Call a tool of the running robot. JSON: {"ok", "code", "message", "data", "retry", "hint", "duration", "details"}. Exit code 0 only on success."""
    from deskhand.etp.validation import parse_arguments

    given = parse_arguments(arguments, name)
    result = call_over_ros(name, given)
    _write(json_file, {"ok": result.ok, **{key: getattr(result, key) for key in ("code", "message", "data", "retry", "hint", "duration", "details")}})
    if not result.ok:
        raise typer.Exit(_failed(result))
    console.print_json(json.dumps(result.data))
    console.print(f"[green]ok[/green] in {result.duration:.2f} s")


@tools.command()
def validate(
    names: Annotated[list[str] | None, typer.Argument(help="Tools, units or groups. Default: all tools.")] = None,
    cards: Annotated[bool, typer.Option("--cards", help="Only check the cards, run no scenario.")] = False,
    write: Annotated[bool, typer.Option("--write", help="Keep what was measured with the cards.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes side by side.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="What the desks and the scenarios are drawn from.")] = 0,
    share: Annotated[float, typer.Option(min=0.0, max=1.0, help="Run only this share of the scenarios, drawn by the seed.")] = 1.0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with what --json FILE has of this seed.")] = False,
    json_file: Json = None,
) -> None:
    """Check the card of every tool and run its scenarios on simulated desks that are drawn from a seed. Exit code 0 only when all is well.

    --json FILE has what was measured until now all the while, and --resume goes on from there; Ctrl-C shows it; with the cards nothing is kept then.

    JSON: {"tools": [{"name", "valid", "problems": [text…], "scenarios": [{"scenario", "situation", "value", "unit", "bar", "passed", "seconds", "problem"}]}],
    "refused", "valid", "complete", "seed"}; a tool is valid when its card is and all its scenarios that were run pass.
    """
    from deskhand.bench.tools import run as bench
    from deskhand.bench.tools.report import table
    from deskhand.tools.base import load_tools
    from deskhand.tools.checks import card_problems

    registry, refused = load_tools()
    chosen = [card for card in registry.cards() if not names or {card.name, card.unit, card.group} & set(names)]
    if missing := [name for name in names or () if not any(name in (card.name, card.unit, card.group) for card in chosen)]:
        registry.get(missing[0])  # says which tool it may mean
    rows: list[Row] = bench.rows_of(json_file, seed) if resume else []
    complete = True
    faults = {card.name: card_problems(card) for card in chosen}

    def report(complete: bool) -> dict[str, Any]:
        told = []
        for card in chosen:
            of = [row for row in rows if row.tool == card.name]
            fine = not faults[card.name] and all(row.passed for row in of)
            told.append({"name": card.name, "valid": fine, "problems": faults[card.name], "scenarios": [row.to_json() for row in of]})
        valid = complete and not refused and all(entry["valid"] for entry in told)
        return {"tools": told, "refused": refused, "valid": valid, "complete": complete, "seed": seed}

    if not cards:
        wanted = [item for item in bench.all_scenarios() if any(item.tool == card.name for card in chosen)]
        if bare := [card.name for card in chosen if not any(item.tool == card.name for item in wanted)]:
            console.print(f"[yellow]no scenario[/yellow] measures {', '.join(bare)}: docs/tools.md says how to write one.", highlight=False)
        if left_out := [f"{item.tool}: {item.name}" for item in wanted if not item.possible()]:
            console.print(f"[yellow]left out[/yellow], this machine lacks what they need: {', '.join(left_out)}.", highlight=False)
        wanted = [item for item in wanted if item.possible()]
        if share < 1:
            wanted = bench.drawn_share(wanted, share, seed)
        rows = [row for row in rows if any((item.tool, item.name) == (row.tool, row.scenario) for item in wanted)]
        to_run = [item for item in wanted if not any((item.tool, item.name) == (row.tool, row.scenario) for row in rows)]
        complete = _run_scenarios(bench.run, to_run, registry, jobs, rows, seed, lambda: _write(json_file, report(False)))
        console.print(table(rows))
        if not complete:
            console.print(f"interrupted: {len(rows)} of {len(wanted)} scenarios were run, {sum(row.passed for row in rows)} of them passed.")
        elif write:
            bench.write(rows, registry, seed)
    for name, problems in faults.items():
        for problem in problems:
            console.print(f"[red]card[/red] {name}: {escape(problem)}", highlight=False)
    for problem in refused:
        console.print(f"[red]refused[/red] {escape(problem)}", highlight=False)
    found = report(complete)
    _write(json_file, found)
    if not complete:
        raise typer.Exit(130)
    passed, tools_passed = sum(row.passed for row in rows), sum(bool(entry["valid"]) for entry in found["tools"])
    console.print(f"{tools_passed} of {len(chosen)} tools pass; {passed} of {len(rows)} scenarios, seed {seed}.")
    if not found["valid"]:
        raise typer.Exit(1)


def _run_scenarios(
    run: Callable[..., Generator[Row, None, None]],
    wanted: Sequence[Scenario],
    registry: Registry,
    jobs: int,
    rows: list[Row],
    seed: int,
    keep: Callable[[], None],
) -> bool:
    """Fill ``rows``, ``keep`` being called after each; False when Ctrl-C came before the last."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.fields[failed]}[dim]{task.description}"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=len(wanted), failed="")
        running = run(wanted, registry, lambda text: bar.update(task, description=text), jobs, seed)
        try:
            for row in running:
                rows.append(row)
                keep()
                failed = sum(not row.passed for row in rows)
                bar.update(task, advance=1, failed=f"[red]{failed} failed[/red] " if failed else "")
        except KeyboardInterrupt:
            return False
        finally:
            running.close()
    return True


@tools.command()
def new(
    name: Annotated[str, typer.Argument(help="Name of the tool: lower case letters, digits and underscores.")],
    group: Annotated[str, typer.Option(help="perception, cognition, reasoning or execution.")] = "cognition",
    unit: Annotated[str, typer.Option(help="Unit of the group; deskhand tools stats lists them.")] = "scene_graph_and_world_model",
    folder: Annotated[Path | None, typer.Option(help="New folder to write into. Default: the name of the tool, here.")] = None,
) -> None:
    """Begin a tool in a package of your own: a tool with its card, scenarios that measure it and a test, which pass as they are written."""
    from deskhand.tools.skeleton import write_skeleton

    where = folder or Path(name)
    for file in write_skeleton(name, where, _registry(), group, unit):
        console.print(f"wrote {escape(str(file))}", highlight=False)
    console.print(f"Now change what it does. `pip install -e {escape(str(where))}` adds it; then:")
    console.print(f"  deskhand tools show {name}\n  deskhand tools validate {name}\n  python -m pytest {escape(str(where))}", highlight=False)


@tools.command()
def stats(json_file: Json = None) -> None:
    """Count the tools: by group and unit, mode, effects, needs, isolation and validation.

    JSON: {"tools", "groups": {group: n}, "units": [{"group", "unit", "tools"}], "modes", "effects", "needs", "isolated", "sources", "scenarios", "passed",
    "unmeasured": [name…]}.
    """
    from deskhand.tools.stats import stats_of

    told = stats_of(_registry().cards())
    table = Table("group", "unit", Column("tools", justify="right"))
    for entry in told["units"]:
        table.add_row(entry["group"], entry["unit"], str(entry["tools"]))
    console.print(table)
    for name in ("groups", "modes", "effects", "needs", "sources"):
        console.print(f"{name}: {', '.join(f'{key} {count}' for key, count in told[name].items())}")
    console.print(f"{told['tools']} tools, {told['isolated']} of them isolated; {told['passed']} of {told['scenarios']} scenarios passed.")
    _write(json_file, told)


@tools.command()
def page(file: Annotated[Path, typer.Argument(help="The page; its part between the markers is replaced.")] = Path("docs/tools.md")) -> None:
    """Write the list of the tools into the documentation, and, where the sentence model is, what it makes of the cards into the package."""
    from deskhand.tools.page import write_page, write_vectors

    registry = _registry(others=False)
    changed = write_page(registry, file)
    console.print(f"{file} {'was brought up to date' if changed else 'is current'}.")
    console.print(write_vectors(registry))


def _registry(others: bool = True) -> Registry:
    from deskhand.tools.base import load_tools

    registry, refused = load_tools(others)
    for problem in refused:
        Console(stderr=True).print(f"[yellow]warning[/yellow] {escape(problem)}", highlight=False)
    return registry


def _show_summaries(registry: Registry, hits: list[ToolSummary], json_file: Path | None, ranked_by: str = "") -> None:
    rows: list[dict[str, Any]] = []
    table = Table(Column("name", no_wrap=True), "group / unit", "effects", "needs", "what it does", *(["score"] if ranked_by else []))
    for hit in hits:
        card = registry.get(hit.name).card
        rows.append({key: getattr(card, key) for key in ("name", "group", "unit", "summary", "effects", "needs", "mode", "version", "source")})
        table.add_row(hit.name, f"{hit.group} / {hit.unit}", hit.effects, ", ".join(card.needs), hit.summary, *([f"{hit.score:.2f}"] if ranked_by else []))
        if ranked_by:
            rows[-1]["score"] = hit.score
    _write(json_file, {"tools": rows, **({"ranked_by": ranked_by} if ranked_by else {})})
    console.print(table if hits else "No tool fits; try other words.")
    if ranked_by:
        console.print(f"[dim]Ranked by {ranked_by}.[/dim]", highlight=False)


def call_over_ros(name: str, arguments: dict[str, Any]) -> Any:
    """The result of a tool of the running robot; raises ``missing_dependency`` without ROS."""
    try:
        from deskhand.nodes.ros_tools import connect
    except ImportError as error:
        raise DeskhandError("missing_dependency", f"ROS 2 is not on this path ({error}).", hint="Run `make setup`, or source your ROS 2.") from error
    with console.status("starting") as status, connect() as client:
        status.update(f"{name} …")
        return client.invoke(name, arguments, lambda fraction, text: status.update(f"{name}: {fraction:4.0%} {text}"), caller="command line")


def _failed(result: Any) -> int:
    Console(stderr=True).print(f"[red]error[/red] {escape(f'{result.code}: {result.message} {result.hint}')}", highlight=False)
    return 1


def _write(file: Path | None, data: Any) -> None:
    if file is None:
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(data, indent=2, ensure_ascii=False, default=list) + "\n")
    except OSError as error:
        raise DeskhandError("config_error", f"{file} cannot be written: {error}.") from error
