"""An arm's port is found by its adapter, or by what goes and comes with its cable."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from deskhand.arms.ports import SerialPort, find_by_plugging, find_port, list_ports
from deskhand.errors import DeskhandError

BOARD = SerialPort("/dev/null", "/dev/ttyACM0", 0x1A86, 0x55D3, "5A46", "USB Single Serial")
OTHER = SerialPort("/dev/zero", "/dev/ttyUSB0", 0x0403, 0x6014, "FT1", "USB <-> Serial")
UNKNOWN = SerialPort("/dev/full", "/dev/ttyUSB1", 0x1234, 0x5678)


class Desk:
    """Cables that somebody pulls and puts in."""

    def __init__(self, ports: Sequence[SerialPort], mine: SerialPort, says: bool = True, back: Sequence[SerialPort] | None = None) -> None:
        self.ports, self.mine, self.says, self.back = list(ports), mine, says, [mine] if back is None else list(back)
        self.asked: list[str] = []

    def listing(self) -> list[SerialPort]:
        return list(self.ports)

    def say(self, text: str) -> None:
        return

    def act(self, key: str, text: str) -> None:
        self.asked.append(key)
        if key == "port.unplug":
            self.ports.remove(self.mine)
        if key == "port.plug":
            self.ports += self.back

    def confirm(self, key: str, text: str) -> bool:
        self.asked.append(key)
        return self.says

    def number(self, key: str, text: str, default: float | None) -> float:
        raise AssertionError(key)

    def choose(self, key: str, text: str, options: tuple[str, ...], default: str) -> str:
        raise AssertionError(key)


def found(desk: Desk, adapters: Sequence[tuple[int, int]] = ((0x1A86, 0x55D3),)) -> SerialPort:
    return find_port(desk, "SO-101", adapters, desk.listing, lambda _: None)


def test_the_only_adapter_of_the_kind_is_proposed() -> None:
    desk = Desk([OTHER, BOARD, UNKNOWN], BOARD)
    assert found(desk) is BOARD and desk.asked == ["port.plugged", "port.right"]
    assert "CH343" in BOARD.words() and "1a86:55d3" in BOARD.words()


@pytest.mark.parametrize("desk", [Desk([OTHER, BOARD], BOARD, says=False), Desk([OTHER, BOARD, UNKNOWN], UNKNOWN, says=False)])
def test_else_it_is_the_one_that_goes_and_comes(desk: Desk) -> None:
    assert found(desk) is desk.mine and desk.asked[-2:] == ["port.unplug", "port.plug"]


def test_two_of_the_kind_are_told_apart_by_the_cable() -> None:
    twin = SerialPort("/dev/null", "/dev/ttyACM1", 0x1A86, 0x55D3, "5A47")
    desk = Desk([BOARD, twin], twin)
    assert found(desk) is twin and "port.right" not in desk.asked


@pytest.mark.parametrize("back", [[], [BOARD, UNKNOWN]])
def test_none_or_two_that_come_are_refused(back: list[SerialPort]) -> None:
    desk = Desk([OTHER, BOARD], BOARD, says=False, back=back)
    with pytest.raises(DeskhandError, match="it must be one") as caught:
        find_by_plugging(desk, "SO-101", desk.listing, lambda _: None)
    assert caught.value.code == "device_unavailable"


def test_a_port_that_this_user_may_not_open_is_said() -> None:
    closed = SerialPort("/dev/does_not_exist", "/dev/ttyACM0", 0x1A86, 0x55D3)
    with pytest.raises(DeskhandError, match="may not be used") as caught:
        found(Desk([closed], closed))
    assert "dialout" in str(caught.value)


def test_what_is_on_no_usb_is_no_adapter() -> None:
    assert all(port.vid is not None for port in list_ports())
