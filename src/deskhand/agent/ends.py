"""How a run ends before the model's conversation is over."""

from __future__ import annotations

from deskhand.etp.base import ToolResult


class End(Exception):
    """Ends the run with a code."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(why)
        self.code = code


class Fatal(End):
    """A tool's result that ends the run."""

    def __init__(self, result: ToolResult) -> None:
        super().__init__(result.code, result.message)
        self.result = result


class Finished(Exception):
    """The end that the model claimed is accepted; ``agreed_by``: who beside the model says that it is what was asked."""

    def __init__(self, success: bool, code: str, summary: str, agreed_by: str = "") -> None:
        super().__init__(summary)
        self.success, self.code, self.summary, self.agreed_by = success, code, summary, agreed_by
