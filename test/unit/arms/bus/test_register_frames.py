"""Frames of Feetech's and Dynamixel's servos, byte by byte as the vendors' manuals print them; the emulators give the printed answers."""

from __future__ import annotations

import random

import pytest

from deskhand.arms.bus.framing import Framer
from deskhand.arms.emulate import dynamixel, feetech
from deskhand.arms.emulate.loop import LoopClock, LoopPort
from deskhand.arms.emulate.servo import Servo

FEETECH = {
    "FFFF010201FB": feetech.packet(1, feetech.PING),
    "FFFF010200FC": feetech.packet(1, 0),
    "FFFF01040238 02BE": feetech.packet(1, feetech.READ, bytes((56, 2))),
    "FFFF0104001805DD": feetech.packet(1, 0, (1304).to_bytes(2, "little")),
    "FFFFFE04030501F4": feetech.packet(feetech.BROADCAST, feetech.WRITE, bytes((5, 1))),
    "FFFFFE0205FA": feetech.packet(feetech.BROADCAST, feetech.ACTION),
    # to 2048 at 1000 a second, four servos
    "FFFFFE20832A0601000800 00E803020008 0000E8030300080000E803040008 0000E80358": feetech.packet(
        feetech.BROADCAST, feetech.SYNC_WRITE, bytes((42, 6)) + b"".join(bytes((each,)) + bytes.fromhex("00080000E803") for each in (1, 2, 3, 4))
    ),
}
DYNAMIXEL = {
    "FFFFFD00010300 01194E": dynamixel.packet(1, dynamixel.PING),
    "FFFFFD00010700 5500060426655D": dynamixel.packet(1, dynamixel.STATUS, bytes.fromhex("00060426")),
    "FFFFFD00010700 028400 04001D15": dynamixel.packet(1, dynamixel.READ, bytes.fromhex("84000400")),
    "FFFFFD00010800 5500A60000008CC0": dynamixel.packet(1, dynamixel.STATUS, bytes.fromhex("00A6000000")),
    "FFFFFD00010900 0374000002 0000CA89": dynamixel.packet(1, dynamixel.WRITE, bytes.fromhex("740000020000")),
    "FFFFFD00010400 5500A10C": dynamixel.packet(1, dynamixel.STATUS, b"\0"),
    "FFFFFD00010300 082F4E": dynamixel.packet(1, dynamixel.REBOOT),
}


@pytest.mark.parametrize(("printed", "ours"), [*FEETECH.items(), *DYNAMIXEL.items()])
def test_a_frame_is_as_the_manual_prints_it(printed: str, ours: bytes) -> None:
    assert ours == bytes.fromhex(printed)


def asked(make: type, position: int, printed: str, **settings: int) -> str:
    clock = LoopClock()
    port = LoopPort(clock)
    kind = feetech.FeetechServo if make is feetech.FeetechEmulator else dynamixel.DynamixelServo
    make([kind(Servo(1, clock, position), settings)], loop=port, sleep=clock.sleep, clock=clock)
    port.open()
    port.write(bytes.fromhex(printed))
    return port.drain().hex().upper()


def test_the_emulators_answer_as_printed() -> None:
    assert asked(feetech.FeetechEmulator, 1304, "FFFF010201FB") == "FFFF010200FC"
    assert asked(feetech.FeetechEmulator, 1304, "FFFF0104023802BE") == "FFFF0104001805DD"
    assert asked(dynamixel.DynamixelEmulator, 166, "FFFFFD0001030001194E", model=1030, firmware=38) == "FFFFFD000107005500060426655D"
    assert asked(dynamixel.DynamixelEmulator, 166, "FFFFFD00010700028400 04001D15") == "FFFFFD000108005500A60000008CC0"
    assert asked(dynamixel.DynamixelEmulator, 166, "FFFFFD000109000374000002 0000CA89") == "FFFFFD000104005500A10C"


def test_a_header_within_the_parameters_is_stuffed_and_comes_back() -> None:
    generator = random.Random(2)
    for _ in range(300):
        data = bytes(generator.choice((0xFF, 0xFD, 0x00, 0x12)) for _ in range(generator.randrange(1, 20)))
        frame = dynamixel.packet(7, dynamixel.WRITE, data)
        assert b"\xff\xff\xfd" not in frame[8:-2].replace(b"\xff\xff\xfd\xfd", b"")
        assert Framer(dynamixel.DynamixelFormat()).feed(b"\xff" + frame) == [frame]
        assert dynamixel.unstuffed(frame) == (7, dynamixel.WRITE, data)
