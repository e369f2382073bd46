"""What ``deskhand bench motion`` shows: tables on the terminal, a plot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table


def show(result: dict[str, Any], console: Console) -> None:
    """Tables of one arm's numbers."""
    names = result["contenders"]
    table = Table(title=f"{result['arm']}: medians / 95 % [ms of processor time]", title_justify="left")
    table.add_column("")
    for name in names:
        table.add_column(name, justify="right")
    table.add_row("inverse kinematics", *(_times(result["ik"][name]) for name in names))
    if result["ik_nearest"]:
        table.add_row("  the nearest", *(_times(result["ik_nearest"][name]) if name in result["ik_nearest"] else "" for name in names), style="dim")
    for situation, numbers in result["planning"].items():
        table.add_row(f"plan: {situation}", *(_times(numbers[name]) for name in names))
        table.add_row("  path [rad]", *(f"{numbers[name]['median_length']:.2f}" for name in names), style="dim")
        table.add_row("  wall clock", *(f"{numbers[name]['median_ms']:.1f} / {numbers[name]['p95_ms']:.1f}" for name in names), style="dim")
    table.add_row("10 cm straight", *(_times(result["cartesian"][name]) for name in names))
    table.add_row("  off the line [mm]", *(f"{result['cartesian'][name]['off_line_mm']:.2f}" for name in names), style="dim")
    table.add_row("collision checks [1/s]", *(f"{result['checks'][name]['per_cpu_second']:.0f}" for name in names))
    console.print(table)
    if service := result.get("ik_service"):
        console.print(
            f"motion/solve_ik through ROS: {service['calls']} calls, {service['success']:.1%} solved, median {service['median_ms']:.1f} ms, "
            f"95 % {service['p95_ms']:.1f} ms (wall clock)" + "".join(f"; {count} x {code}" for code, count in service["errors"].items())
        )
    for name, row in result["ratios"].items():
        console.print(f"{name}, times {names[0]}: " + ", ".join(f"{what} {value:.2f}" for what, value in row.items()), soft_wrap=True)
    for name, why in result["missing"].items():
        console.print(f"[dim]not measured: {name}: {why}[/dim]", soft_wrap=True)


def show_trust(trust: dict[str, Any], console: Console) -> None:
    """What the campaigns found."""
    plans, moves = trust.get("plans"), trust.get("motions")
    if plans:
        console.print(
            f"{plans['plans']} plans at {plans['step_rad'] * 1000:g} mrad, MuJoCo: {plans['deeper_than_1mm']} deeper than 1 mm, deepest "
            f"{plans['deepest_mm']:.2f} mm; {plans['over_limits']} beyond a limit by more than 1 %, worst {100 * plans['worst_limit']:.2f} %"
        )
    if moves:
        console.print(
            f"{moves['executed']} plans executed: {moves['reached']} reached, tracking error at most {moves['max_tracking_error_rad']:.4f} rad, final "
            f"{moves['max_final_error_rad']:.4f} rad; {moves['stops']} stops: overshoot median {moves['overshoot_median_mm']:.1f} mm, at most "
            f"{moves['overshoot_max_mm']:.1f} mm, at rest within {moves['rest_max_s']:.2f} s; "
            f"contacts with the table or the post in the keep-out zone: {moves['contacts']}"
        )


def plot(results: list[dict[str, Any]], path: Path) -> None:
    """Bars of planning times, one panel an arm."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(results), figsize=(6.4 * len(results), 4.2), squeeze=False)
    for axis, result in zip(axes[0], results, strict=True):
        rows = {"ik": result["ik"], **{f"plan:\n{name}": numbers for name, numbers in result["planning"].items()}, "10 cm\nline": result["cartesian"]}
        width = 0.8 / len(result["contenders"])
        for index, name in enumerate(result["contenders"]):
            places = [i + (index - (len(result["contenders"]) - 1) / 2) * width for i in range(len(rows))]
            medians = [numbers[name]["cpu_median_ms"] for numbers in rows.values()]
            most = [max(0.0, numbers[name]["cpu_p95_ms"] - median) for numbers, median in zip(rows.values(), medians, strict=True)]
            axis.bar(places, medians, width, yerr=[[0.0] * len(most), most], label=name, capsize=2, error_kw={"linewidth": 0.8})
        axis.set(yscale="log", title=result["arm"], ylabel="processor time [ms], median and 95 %")
        axis.set_xticks(range(len(rows)), list(rows))
        axis.grid(axis="y", alpha=0.3)
    axes[0][0].legend(fontsize="small")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def _times(numbers: dict[str, Any]) -> str:
    success = numbers.get("success", 1.0)
    return f"{numbers['cpu_median_ms']:.2f} / {numbers['cpu_p95_ms']:.2f}" + (f"  ({success:.1%})" if success < 1 else "")
