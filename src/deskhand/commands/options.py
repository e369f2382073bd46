"""Options that commands share: ``demo``, ``trial`` and ``do`` mean the same by the same name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Instruction = Annotated[str | None, typer.Option("--instruction", help="Tell the robot this instead of the task's own words.")]
Scene = Annotated[Path | None, typer.Option("--scene", help="Scene file (YAML) instead of the task's scene; needs --instruction.")]
Arm = Annotated[str, typer.Option("--arm", help="Arm, a name in config/arms or a YAML file.")]
Brain = Annotated[str, typer.Option("--brain", help="Language model; offline needs none.")]
Mode = Annotated[
    str,
    typer.Option(
        "--mode",
        help="How the model acts: tools (it calls them), code (it writes Python that does), direct (no tools: seven-number actions, the baseline) or "
        "direct_labelled (the same with labels, colours and sizes told); direct+tools (plans twice, with at most three tools between; direct+tools_hidden: the "
        "runtime chooses them). "
        "The offline brain has tools only.",
    ),
]
Timeout = Annotated[float, typer.Option("--timeout", min=1.0, help="Wall clock for one task [s].")]
AnswerTimeout = Annotated[
    float, typer.Option("--answer-timeout", help="How long a question waits for its answer [s]; 0: 120 s, or as the orchestrator is set; negative: not at all.")
]
Images = Annotated[
    int | None, typer.Option("--images", min=0, help="How many of the newest pictures a model with eyes is shown. Default: as its profile says.")
]
Planner = Annotated[str, typer.Option("--planner", help="Motion planner: embedded, moveit, or auto (moveit where it is installed).")]
Pace = Annotated[
    float,
    typer.Option(min=0.0, help="Simulated seconds in one of the clock on the wall, at most: 1 is a real robot's clock. 0: as config/nodes.yaml says (4)."),
]
Composed = Annotated[bool, typer.Option("--composed", help="Run the nodes that neither stop nor drive the arm as one process: less memory.")]
Without = Annotated[list[str] | None, typer.Option("--without", help="A tool that the robot shall not have; may be given again. Only with --local.")]
Local = Annotated[bool, typer.Option("--local", help="Everything in this process, without ROS: faster.")]
Fault = Annotated[str, typer.Option("--fault", help="What goes wrong: slip, moved_object, knocked_tower, stale_frames or depth_holes.")]
Reality = Annotated[
    str,
    typer.Option(
        "--reality",
        help="How the simulated world differs from an ideal one: none, mild, hard or a YAML file (docs/reality.md). Default: as the scene file, else mild.",
    ),
]
RecordRate = Annotated[
    float,
    typer.Option(
        "--record-rate",
        min=0.0,
        max=100.0,
        help="Also record samples for learning, so many a second of the robot's time [Hz]: pictures, measured state, commanded action; with --local.",
    ),
]
TIMEOUT = 900.0
