"""Tools read plain files of folders that the operator named, bounded, and tell nothing of the rest of the machine."""

import os

import pytest

from deskhand.errors import DeskhandError
from deskhand.tools.files import read_named

SUFFIXES = (".yaml", ".png")


@pytest.fixture
def folders(tmp_path):
    named, other = tmp_path / "plans", tmp_path / "other"
    named.mkdir()
    other.mkdir()
    (named / "tower.yaml").write_text("structure: tower")
    (other / "secret.yaml").write_text("key: 1")
    return named, other


def refusal(folders, name, most=100):
    with pytest.raises(DeskhandError) as caught:
        read_named(folders, name, SUFFIXES, most)
    return caught.value


def test_a_file_is_read_by_its_name_or_its_whole_path(folders):
    named, _ = folders
    assert read_named([named], "tower.yaml", SUFFIXES, 100) == b"structure: tower"
    assert read_named([named], str(named / "tower.yaml"), SUFFIXES, 100) == b"structure: tower"
    assert read_named([named], str(named / ".." / "plans" / "tower.yaml"), SUFFIXES, 100) == b"structure: tower"


def test_what_lies_elsewhere_is_answered_alike_whether_it_exists_or_not(folders):
    named, other = folders
    answers = {
        refusal([named], name).message.replace(repr(name), "NAME")
        for name in (str(other / "secret.yaml"), str(other / "none.yaml"), "../other/secret.yaml", "/etc/passwd", "/etc/nothing.yaml", "none.yaml", "")
    }
    assert answers == {"there is no file NAME in the folders that the operator named; there is: tower.yaml."}


def test_links_devices_pipes_and_large_files_are_not_read(folders):
    named, other = folders
    (named / "zero.png").symlink_to("/dev/zero")
    (named / "link.yaml").symlink_to(other / "secret.yaml")
    (named / "sub.yaml").mkdir()
    os.mkfifo(named / "pipe.yaml")
    for name in ("zero.png", "link.yaml", "sub.yaml", "pipe.yaml"):
        assert "there is no file" in refusal([named], name).message
    (named / "large.yaml").write_bytes(b"x" * 101)
    assert "at most 100" in refusal([named], "large.yaml").message


def test_without_a_named_folder_nothing_is_read(folders):
    error = refusal([], str(folders[0] / "tower.yaml"))
    assert error.code == "access_denied" and "--files" in error.hint
