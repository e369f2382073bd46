"""Emulators on real pseudo-terminals: other people's software works with them, ports have one owner, cables can be pulled."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from deskhand.arms.bus.base import ServoBus
from deskhand.arms.bus.feetech import FeetechBus
from deskhand.arms.bus.lx16a import LxBus
from deskhand.arms.bus.port import Port
from deskhand.arms.bus.rrc import RrcBus
from deskhand.arms.emulate.bank import make_servos
from deskhand.arms.emulate.lx16a import LxEmulator
from deskhand.arms.emulate.rrc import RrcEmulator
from deskhand.errors import DeskhandError

POSITIONS = {1: 500.0, 2: 321.0, 10: 200.0}


def until(condition: Callable[[], bool], limit: float = 10.0) -> bool:
    end = time.monotonic() + limit
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def opened(bus: RrcBus | LxBus) -> bool:
    with contextlib.suppress(DeskhandError):
        bus.open()
        return True
    return False


def test_lewansoul_lx16a_drives_the_emulated_servos() -> None:
    import serial
    from lewansoul_lx16a import ServoController

    with LxEmulator(make_servos(POSITIONS)) as emulator, serial.Serial(emulator.path, 115200, timeout=1) as port:
        servos = ServoController(port, timeout=5)
        assert servos.get_position(2) == 321
        assert servos.get_voltage(1) == pytest.approx(11800, abs=60)
        assert servos.get_temperature(1) == pytest.approx(28, abs=2)
        servos.move(1, 700, 200)
        assert until(lambda: servos.get_position(1) == pytest.approx(700, abs=1))
        servos.set_position_offset(1, -9)
        servos.set_position_limits(1, 100, 900)
        servos.set_voltage_limits(1, 5000, 12000)
        servos.set_max_temperature_limit(1, 70)
        assert servos.get_position_offset(1) == -9
        assert servos.get_position_limits(1) == (100, 900)
        assert servos.get_voltage_limits(1) == (5000, 12000)
        assert servos.get_max_temperature_limit(1) == 70
        servos.motor_off(1)
        assert not servos.is_motor_on(1)
        servos.motor_on(1)
        servos.move_prepare(1, 600, 100)
        servos.move_start(1)
        assert until(lambda: servos.get_position(1) == pytest.approx(600, abs=1))
        servos.move(1, 100, 30000)
        servos.move_stop(1)
        assert servos.get_position(1) > 560
        servos.set_servo_id(1, 7)
        assert servos.get_servo_id(7) == 7


def test_pylx16a_drives_the_emulated_servos() -> None:
    from pylx16a.lx16a import LX16A

    with LxEmulator(make_servos(POSITIONS)) as emulator:
        LX16A.initialize(emulator.path, timeout=2.0)
        servo = LX16A(2)
        assert servo.get_physical_angle() == pytest.approx(321 * 0.24)
        servo.move(150, time=200)
        assert until(lambda: servo.get_physical_angle() == pytest.approx(150, abs=0.5))
        assert servo.get_vin() == pytest.approx(11800, abs=60)
        assert servo.get_temp() == pytest.approx(28, abs=2)
        servo.set_angle_limits(24, 216)
        assert servo.get_angle_limits(poll_hardware=True) == pytest.approx((24, 216))
        servo.set_angle_offset(-12)
        assert servo.get_angle_offset(poll_hardware=True) == pytest.approx(-12)
        servo.disable_torque()
        assert not servo.is_torque_enabled(poll_hardware=True)
        LX16A._controller.close()


def test_our_bus_copes_with_an_adapter_that_echoes() -> None:
    with LxEmulator(make_servos(POSITIONS), echo=True) as emulator:
        bus = LxBus(emulator.path, timeout=0.5)
        bus.open()
        assert bus.read_positions([1, 2, 10]) == {1: 500, 2: 321, 10: 200}
        bus.move({1: 640}, 0.1)
        assert until(lambda: bus.read_position(1) == 640)
        bus.close()


def test_the_controller_tells_the_batterys_voltage_unasked() -> None:
    with RrcEmulator(make_servos(POSITIONS)) as emulator:
        bus = RrcBus(emulator.path, timeout=0.5)
        bus.open()
        assert until(lambda: bus.read_position(1) == 500 and bus.battery is not None)
        assert bus.battery == pytest.approx(11.8, abs=0.1)
        bus.close()


def test_a_port_has_one_owner() -> None:
    with RrcEmulator(make_servos(POSITIONS)) as emulator:
        first, second = Port(emulator.path, 1_000_000), Port(emulator.path, 1_000_000)
        first.open()
        with pytest.raises(DeskhandError) as caught:
            second.open()
        assert caught.value.code == "device_busy"
        first.close()
        second.open()
        second.close()
    with pytest.raises(DeskhandError) as caught:
        first.open()
    assert caught.value.code == "device_unavailable"


def test_a_cable_is_pulled_and_put_in_50_times(tmp_path: Path) -> None:
    with RrcEmulator(make_servos(POSITIONS), link=str(tmp_path / "arm")) as emulator:
        bus = RrcBus(emulator.path, timeout=0.5)
        bus.open()
        for _ in range(50):
            assert bus.read_position(2) == 321
            emulator.line.unplug()
            with pytest.raises(DeskhandError) as caught:
                bus.read_position(2)
            assert caught.value.code == "device_unavailable"
            assert not opened(bus)
            emulator.line.plug()
            assert opened(bus)
        assert bus.read_positions([1, 2, 10]) == {1: 500, 2: 321, 10: 200}
        assert bus.counters.opened == 51
        bus.close()


@pytest.mark.parametrize(
    ("kind", "make", "there"),
    [
        ("rrc", lambda path: RrcBus(path, timeout=0.5), {1: 500, 10: 200}),
        ("lx16a", lambda path: LxBus(path, timeout=0.5), {1: 500, 10: 200}),
        ("feetech", lambda path: FeetechBus(path, latency=0.5), {1: 2048, 3: 3026}),
    ],
)
def test_the_command_says_its_port_first(kind: str, make: Callable[[str], ServoBus], there: dict[int, int]) -> None:
    command = [sys.executable, "-m", "deskhand", "emulate", kind, "--seed", "3", "--silent", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            bus = make(process.stdout.readline().strip())
            bus.open()
            assert bus.read_positions([*there]) == there
            bus.close()
        finally:
            process.terminate()
        assert process.wait(20) == 0
