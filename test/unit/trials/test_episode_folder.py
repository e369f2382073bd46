"""Folders of trials that nobody named."""

from pathlib import Path

import pytest

from deskhand.trials.base import TrialOptions
from deskhand.trials.trial import episode_folder


def test_two_trials_that_begin_in_the_same_second_share_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folders = [episode_folder(TrialOptions(), "3_trials") for _ in range(4)]
    assert len(set(folders)) == 4 and all(folder.is_dir() for folder in folders)
