"""The board on paper: a PDF page of exact size."""

from __future__ import annotations

from pathlib import Path

from deskhand.calibration.board import Board
from deskhand.errors import DeskhandError

PAPER = {"A4": (0.210, 0.297), "A3": (0.297, 0.420), "Letter": (0.2159, 0.2794)}
"""Width and height [m]."""
MARGIN = 0.010  # [m] that printers leave white, and that the detector wants around the board
RULER = 0.1  # [m]
_INCH = 0.0254


def write_pdf(board: Board, file: Path, paper: str = "A4") -> None:
    """One page with the board in its middle, its name, and a ruler to see whether the printer kept the size.

    Raises:
        DeskhandError: ``invalid_input`` when it does not fit on the paper, ``config_error`` when the file cannot be written.
    """
    if paper not in PAPER:
        raise DeskhandError("invalid_input", f"there is no paper {paper!r}; valid: {', '.join(PAPER)}.")
    page, size = PAPER[paper], board.size
    if size[0] > page[0] - 2 * MARGIN or size[1] > page[1] - 2 * MARGIN - 0.012:
        raise DeskhandError("invalid_input", f"a board of {size[0] * 1000:g} x {size[1] * 1000:g} mm does not fit on {paper}.", hint="Take smaller squares.")
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    figure = Figure(figsize=(page[0] / _INCH, page[1] / _INCH))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, page[0])
    axes.set_ylim(page[1], 0)  # y down, as the board has it
    axes.set_axis_off()
    left, top = (page[0] - size[0]) / 2, (page[1] - size[1]) / 2 - 0.004
    for x, y, width, height in board.black():
        axes.add_patch(Rectangle((left + x, top + y), width, height, facecolor="black", edgecolor="none", antialiased=False))
    under = top + size[1] + 0.007
    axes.plot([left, left + RULER], [under, under], color="black", linewidth=0.6)
    for end in (left, left + RULER):
        axes.plot([end, end], [under - 0.0015, under + 0.0015], color="black", linewidth=0.6)
    text = f"deskhand board {board.name}: print at 100 %; the line must be {RULER * 1000:g} mm long"
    axes.text(left, under + 0.0045, text, fontsize=7, verticalalignment="center")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with rc_context({"pdf.compression": 0}):
            figure.savefig(file, format="pdf")
    except OSError as error:
        raise DeskhandError("config_error", f"{file} cannot be written: {error}.") from error
