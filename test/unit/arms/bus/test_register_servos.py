"""What STS and X servos do with their registers, told by the vendors' own packet handlers and by other people's clients, on pseudo-terminals."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import dynamixel_sdk as dxl
import pytest
import scservo_sdk as scs
from st3215 import ST3215

from deskhand.arms.emulate.dynamixel import ACCESS_ERROR, ALERT, LIMIT_ERROR, DynamixelEmulator, DynamixelServo
from deskhand.arms.emulate.feetech import FeetechEmulator, FeetechServo
from deskhand.arms.emulate.servo import Servo

BAUD = 1_000_000


def until(condition: Callable[[], bool], limit: float = 10.0) -> bool:
    end = time.monotonic() + limit
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    return condition()


def turn(unit: FeetechServo | DynamixelServo, position: float) -> None:
    """By hand."""
    unit.servo.set_torque(False)
    unit.servo.shaft.position = position


class Client:
    """A vendor's packet handler on its own port."""

    def __init__(self, sdk: Any, handler: Any, path: str, baud: int = BAUD) -> None:
        self.port, self.handler = sdk.PortHandler(path), handler
        assert self.port.setBaudRate(baud)
        self.port.setPacketTimeout = lambda length: self.port.setPacketTimeoutMillis(2000 + length)  # theirs is too short for a busy machine

    def read(self, number: int, address: int, length: int = 1) -> int:
        value, result, error = getattr(self.handler, f"read{length}ByteTxRx")(self.port, number, address)
        assert (result, error & 0x7F) == (0, 0)
        return int(value)

    def write(self, number: int, address: int, value: int, length: int = 1) -> int:
        result, error = getattr(self.handler, f"write{length}ByteTxRx")(self.port, number, address, value)
        assert result == 0
        return int(error)


def three(make: type) -> list[Any]:
    return [make(Servo(number, time.monotonic, 2000 + number)) for number in (1, 2, 3)]


@pytest.fixture
def sts() -> Iterator[tuple[FeetechEmulator, Client]]:
    with FeetechEmulator(three(FeetechServo)) as emulator:
        client = Client(scs, scs.PacketHandler(0), emulator.path)
        yield emulator, client
        client.port.closePort()


@pytest.fixture
def xm() -> Iterator[tuple[DynamixelEmulator, Client]]:
    with DynamixelEmulator(three(DynamixelServo)) as emulator:
        client = Client(dxl, dxl.PacketHandler(2.0), emulator.path)
        yield emulator, client
        client.port.closePort()


# ---------------------------------------------------------------- Feetech


def test_sts_position_is_the_encoder_less_the_homing_offset_within_one_turn(sts: tuple[FeetechEmulator, Client]) -> None:
    emulator, client = sts
    assert client.handler.ping(client.port, 2)[:2] == (777, 0)
    client.write(1, 31, 953, 2)
    assert client.read(1, 56, 2) == 2001 - 953
    client.write(1, 31, 1 << 11 | 300, 2)  # -300
    assert client.read(1, 56, 2) == 2301
    turn(emulator.unit(1), 3900)
    assert client.read(1, 56, 2) == (3900 + 300) % 4096
    client.write(1, 18, 0x1C)  # counted on over the turns
    assert client.read(1, 56, 2) == 4200
    turn(emulator.unit(1), -400)
    assert client.read(1, 56, 2) == 0x8000 | 100


def test_sts_torque_128_makes_this_place_the_middle(sts: tuple[FeetechEmulator, Client]) -> None:
    emulator, client = sts
    turn(emulator.unit(3), 3333)
    client.write(3, 40, 128)
    assert client.read(3, 56, 2) == 2048
    assert client.read(3, 31, 2) == 3333 - 2048


def test_sts_keeps_without_power_only_what_was_written_unlocked(sts: tuple[FeetechEmulator, Client]) -> None:
    emulator, client = sts
    unit = emulator.unit(2)
    client.write(2, 21, 16)
    unit.power_up()
    assert client.read(2, 21) == 32  # obeyed, then forgotten
    client.write(2, 55, 0)
    client.write(2, 21, 16)
    client.write(2, 5, 9)
    client.write(9, 55, 1)
    unit.power_up()
    assert (client.read(9, 21), client.read(9, 55), client.read(9, 40)) == (16, 1, 0)
    assert 2 not in emulator.servos and emulator.servos[9] is unit.servo


def test_sts_goals_stay_within_the_limits_and_wait_for_the_action(sts: tuple[FeetechEmulator, Client]) -> None:
    _, client = sts
    client.write(1, 9, 1800, 2)
    client.write(1, 11, 2200, 2)
    client.write(1, 42, 3000, 2)
    assert until(lambda: client.read(1, 56, 2) == 2200)
    assert until(lambda: client.read(1, 66) == 0)
    result, _ = client.handler.regWriteTxRx(client.port, 1, 42, 2, [scs.SCS_LOBYTE(1900), scs.SCS_HIBYTE(1900)])
    assert result == 0
    time.sleep(0.05)
    assert client.read(1, 56, 2) == 2200
    client.handler.action(client.port, scs.BROADCAST_ID)
    assert until(lambda: client.read(1, 56, 2) == 1900)


def test_sts_answers_at_its_own_speed_only(sts: tuple[FeetechEmulator, Client]) -> None:
    emulator, client = sts
    client.write(3, 6, 4)  # 115200
    client.port.setPacketTimeout = lambda length: client.port.setPacketTimeoutMillis(30)
    assert client.handler.ping(client.port, 3)[1] != 0
    slow = Client(scs, scs.PacketHandler(0), emulator.path, 115_200)
    assert slow.handler.ping(slow.port, 3)[:2] == (777, 0)
    slow.port.closePort()


def test_two_sts_of_one_id_destroy_each_others_answers() -> None:
    with FeetechEmulator([FeetechServo(Servo(1, time.monotonic, place)) for place in (100, 3000)]) as emulator:
        client = Client(scs, scs.PacketHandler(0), emulator.path)
        client.port.setPacketTimeout = lambda length: client.port.setPacketTimeoutMillis(40)
        assert all(client.handler.ping(client.port, 1)[1] != 0 for _ in range(5))
        client.port.closePort()


def test_a_stalled_sts_protects_itself_and_says_so(sts: tuple[FeetechEmulator, Client]) -> None:
    emulator, client = sts
    unit = emulator.unit(1)
    unit.servo.shaft.stop_high = 2100
    client.write(1, 35, 20)  # 0.2 s
    client.write(1, 42, 3000, 2)
    assert until(lambda: bool(client.handler.read1ByteTxRx(client.port, 1, 65)[0] & 32))
    assert client.handler.read2ByteTxRx(client.port, 1, 60)[0] & 0x3FF == 200
    client.write(1, 42, 1500, 2)  # to the other side
    assert until(lambda: client.read(1, 56, 2) == 1500)
    assert client.read(1, 65) == 0


def position(client: ST3215, number: int) -> int | None:
    """What the client reads, None where its read ends with IndexError: on a busy machine it takes an empty answer for one with data."""
    try:
        return client.ReadPosition(number)
    except IndexError:
        return None


def test_another_client_finds_renames_centres_and_moves_sts() -> None:
    with FeetechEmulator(three(FeetechServo)) as emulator:
        client = ST3215(emulator.path)
        assert [number for number in (1, 2, 3, 4) if client.PingServo(number)] == [1, 2, 3]
        assert client.ReadVoltage(1) == pytest.approx(11.8, abs=0.15) and client.ReadTemperature(1) == 28
        turn(emulator.unit(2), 1234)
        assert client.DefineMiddle(2) and client.ReadPosition(2) == 2048
        assert client.ReadCorrection(2) == 1234 - 2048
        client.ChangeId(2, 8)
        assert client.PingServo(8) and not client.PingServo(2)
        client.StartServo(8)
        client.MoveTo(8, 2500, 3000, 100)
        assert until(lambda: position(client, 8) == 2500)
        client.SetMode(3, 1)
        client.Rotate(3, -500)
        assert until(lambda: -600 < (client.ReadSpeed(3)[0] or 0) < -400)
        client.portHandler.closePort()


# ---------------------------------------------------------------- Dynamixel


def test_x_servos_refuse_settings_under_torque_and_goals_beyond_limits(xm: tuple[DynamixelEmulator, Client]) -> None:
    _, client = xm
    assert client.write(1, 11, 4) == ACCESS_ERROR
    assert client.write(1, 132, 5, 4) == ACCESS_ERROR
    assert client.write(1, 116, 4096, 4) == LIMIT_ERROR
    assert client.write(1, 64, 0) == 0 and client.write(1, 11, 4) == 0
    assert client.write(1, 64, 1) == 0 and client.write(1, 116, 5000, 4) == 0
    assert until(lambda: client.read(1, 132, 4) == 5000)


def test_x_profile_velocity_is_a_speed_or_with_the_drive_modes_bit_a_time(xm: tuple[DynamixelEmulator, Client]) -> None:
    emulator, client = xm
    unit = emulator.unit(1)

    def seconds(goal: int) -> float:
        client.write(1, 116, goal, 4)
        return unit.servo._duration

    client.write(1, 112, 100, 4)
    assert seconds(3001) == pytest.approx(1000 / (100 * 0.229 * 4096 / 60), rel=0.02)
    assert until(lambda: client.read(1, 132, 4) == 3001)
    client.write(1, 64, 0)
    client.write(1, 10, 4)
    client.write(1, 64, 1)
    client.write(1, 112, 700, 4)
    assert seconds(2501) == pytest.approx(0.7)


def test_x_reversed_and_offset(xm: tuple[DynamixelEmulator, Client]) -> None:
    emulator, client = xm
    client.write(2, 64, 0)
    client.write(2, 10, 1)
    assert client.read(2, 132, 4) == 4096 - 2002
    client.write(2, 20, 100, 4)
    assert client.read(2, 132, 4) == 4196 - 2002
    client.write(2, 64, 1)
    client.write(2, 116, 2500, 4)
    assert until(lambda: client.read(2, 132, 4) == 2500)
    assert emulator.unit(2).servo.position() == pytest.approx(4196 - 2500, abs=1)


def test_an_x_shadow_obeys_in_silence(xm: tuple[DynamixelEmulator, Client]) -> None:
    emulator, client = xm
    for address, value in ((64, 0), (12, 1), (10, 1)):
        client.write(3, address, value)
    turn(emulator.unit(3), 4096 - 2001)
    client.write(3, 64, 1)
    client.write(1, 116, 2600, 4)
    assert until(lambda: client.read(1, 132, 4) == 2600 and client.read(3, 132, 4) == 2600)
    assert emulator.unit(3).servo.position() == pytest.approx(4096 - 2600, abs=2)


def test_the_x_watchdog_stops_and_refuses_until_it_is_taken_back(xm: tuple[DynamixelEmulator, Client]) -> None:
    emulator, client = xm
    client.write(1, 112, 10, 4)
    client.write(1, 98, 2)  # 40 ms
    client.write(1, 116, 4000, 4)
    assert until(lambda: emulator.unit(1)["watchdog"] == 255)
    stood = client.read(1, 132, 4)
    assert stood < 2500 and client.write(1, 116, 3000, 4) == ACCESS_ERROR
    assert client.write(1, 98, 0) == 0 and client.write(1, 116, stood + 20, 4) == 0


def test_an_overheated_x_lets_go_until_it_is_rebooted(xm: tuple[DynamixelEmulator, Client]) -> None:
    emulator, client = xm
    unit = emulator.unit(2)
    unit.servo.temperature = 95
    assert client.read(2, 70) == 4 and client.read(2, 64) == 0
    assert client.write(2, 64, 1) == ALERT and client.read(2, 64) == 0
    unit.servo.temperature = 30
    assert client.read(2, 70) == 4
    assert client.handler.reboot(client.port, 2)[0] == 0
    assert client.read(2, 70) == 0 and client.write(2, 64, 1) == 0 and client.read(2, 64) == 1


def test_x_servos_are_found_and_read_in_bulk(xm: tuple[DynamixelEmulator, Client]) -> None:
    _, client = xm
    client.port.setPacketTimeoutMillis = lambda milliseconds: type(client.port).setPacketTimeoutMillis(client.port, 150)
    found, result = client.handler.broadcastPing(client.port)
    assert result == 0 and found == {number: [1020, 46] for number in (1, 2, 3)}
    group = dxl.GroupBulkRead(client.port, client.handler)
    group.addParam(1, 132, 4)
    group.addParam(3, 144, 2)
    assert group.txRxPacket() == 0
    assert (group.getData(1, 132, 4), group.getData(3, 144, 2)) == (2001, 118)
    write = dxl.GroupBulkWrite(client.port, client.handler)
    write.addParam(1, 116, 4, [*(2300).to_bytes(4, "little")])
    write.addParam(2, 65, 1, [1])
    assert write.txPacket() == 0
    assert until(lambda: client.read(1, 132, 4) == 2300) and client.read(2, 65) == 1
