"""What a user's words license, by the guard alone: words that are only mentioned license nothing, and what is asked for is let through."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from licence_desk import licensed

MENTIONED = yaml.safe_load((Path(__file__).parent / "mentioned_cases.yaml").read_text())


@pytest.mark.parametrize("case", MENTIONED, ids=lambda case: case["id"])
def test_what_a_sentence_only_mentions_is_not_licensed(case: dict[str, Any]) -> None:
    assert not licensed(case)
