"""Filters that kill their process are left out; those that work are used."""

import logging
import sys

import pytest

from deskhand.cameras import optional_filters
from deskhand.cameras.base import StreamSettings
from deskhand.cameras.orbbec import Orbbec, orbbec_on_usb
from deskhand.errors import DeskhandError

SDK = """
import os, signal

OBError = RuntimeError

class Context:
    def query_devices(self):
        return self

    def get_count(self):
        return 0

class OBStreamType:
    COLOR_STREAM = 1

class DecimationFilter:
    def set_scale_value(self, value):
        self.scale = value

class SpatialAdvancedFilter:
    def __init__(self):
        os.kill(os.getpid(), signal.SIGSEGV)

class TemporalFilter:
    def __init__(self):
        raise RuntimeError("no such filter in this build")

class AlignFilter:
    def __init__(self, align_to_stream):
        self.to = align_to_stream
"""


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A vendor's library of which one filter dies by a signal and one raises; children find it too."""
    (tmp_path / "dying_sdk.py").write_text(SDK)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    import dying_sdk

    yield dying_sdk
    sys.modules.pop("dying_sdk")
    optional_filters.broken.cache_clear()


def test_a_filter_that_dies_by_a_signal_is_left_out_with_a_warning(library, caplog):
    camera = Orbbec(StreamSettings(decimation=4, spatial=True, temporal=True))
    camera._sdk = library
    with caplog.at_level(logging.WARNING):
        blocks = camera._make_filters()
    assert [type(block).__name__ for block in blocks] == ["DecimationFilter", "AlignFilter"] and blocks[0].scale == 4
    assert "spatial kills its process (SIGSEGV)" in caplog.text and "no such filter in this build" in caplog.text


def test_each_filter_is_tried_once(library, monkeypatch):
    assert "SIGSEGV" in optional_filters.broken("dying_sdk", "spatial", "sdk.SpatialAdvancedFilter()")
    monkeypatch.setattr(optional_filters.subprocess, "run", lambda *_, **__: pytest.fail("tried again"))
    assert "SIGSEGV" in optional_filters.broken("dying_sdk", "spatial", "sdk.SpatialAdvancedFilter()")


def test_a_library_that_is_not_there_is_not_the_filters_fault(library):
    assert optional_filters.usable("no_such_sdk", [("spatial", "sdk.SpatialAdvancedFilter()")]) == ["spatial"]


def test_a_camera_that_the_library_does_not_know_is_told_from_one_that_is_not_there(library, tmp_path, monkeypatch):
    camera = Orbbec(StreamSettings())
    camera._sdk = library
    monkeypatch.setattr("deskhand.cameras.orbbec.orbbec_on_usb", lambda: [])
    with pytest.raises(DeskhandError, match="no Orbbec camera is connected"):
        camera.connect()
    for name, maker in (("1-1", "2bc5"), ("1-2", "8086")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "idVendor").write_text(f"{maker}\n")
        (tmp_path / name / "product").write_text("USB Camera\n")
    there = orbbec_on_usb(tmp_path)
    assert there == ["USB Camera"]
    monkeypatch.setattr("deskhand.cameras.orbbec.orbbec_on_usb", lambda: there)
    with pytest.raises(DeskhandError, match="is connected, but pyorbbecsdk does not find") as caught:
        camera.connect()
    assert "JetArm" in caught.value.hint
