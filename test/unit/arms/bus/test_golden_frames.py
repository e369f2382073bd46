"""The wire formats, byte by byte, against the frames of the vendors' documents and software."""

from __future__ import annotations

import random
import struct

import pytest

from deskhand.arms.bus import lx16a, rrc
from deskhand.arms.bus.framing import Framer

RRC = {
    "AA5502087805640064000500F0": rrc.frame(rrc.BUZZER, struct.pack("<HHHH", 1400, 100, 100, 5)),
    "AA55010701F4012C010A0004": rrc.frame(rrc.LED, struct.pack("<BHHH", 1, 500, 300, 10)),
    "AA55050A01E8030201410302E8039F": rrc.move_frame({1: 833, 2: 1000}, 1000),
    "AA5505020B01B3": rrc.servo_frame(rrc.TORQUE_OFF, b"\x01"),
    "AA5505020C01DD": rrc.servo_frame(rrc.TORQUE_ON, b"\x01"),
    "AA5505020D0119": rrc.servo_frame(rrc.READ_TORQUE, b"\x01"),
    "AA55050205016F": rrc.servo_frame(rrc.READ_POSITION, b"\x01"),
    "AA5505020701FE": rrc.servo_frame(rrc.READ_VOLTAGE, b"\x01"),
    "AA550502090122": rrc.servo_frame(rrc.READ_TEMPERATURE, b"\x01"),
    "AA55050212FED8": rrc.servo_frame(rrc.READ_ID, b"\xfe"),
    "AA550504030201024B": rrc.ids_frame(rrc.STOP, (1, 2)),
    "AA5505050A0500FB01FA": rrc.answer_frame(10, rrc.READ_POSITION, struct.pack("<h", 507)),
    "AA55000304182EB0": rrc.frame(rrc.SYS, struct.pack("<BH", rrc.BATTERY, 11800)),
    "AA55051601E8030601F40102F40103F40104F40105F4010AF4018C": rrc.move_frame(dict.fromkeys((1, 2, 3, 4, 5, 10), 500), 1000),
}
LX = {
    "5555010701F401E80316": lx16a.move_frame(1, 500, 1000),
    "555501031CDF": lx16a.frame(1, lx16a.READ_POSITION),
    "555501051CF401E8": lx16a.frame(1, lx16a.READ_POSITION, struct.pack("<h", 500)),
    "555501030CEF": lx16a.frame(1, lx16a.STOP),
    "555501031AE1": lx16a.frame(1, lx16a.READ_TEMPERATURE),
    "555501031BE0": lx16a.frame(1, lx16a.READ_VOLTAGE),
    "555501041F01DA": lx16a.frame(1, lx16a.WRITE_LOAD, b"\x01"),
    "555501041F00DB": lx16a.frame(1, lx16a.WRITE_LOAD, b"\x00"),
}


def test_crc_is_that_of_maxim() -> None:
    assert rrc.crc8(b"123456789") == 0xA1


@pytest.mark.parametrize(("golden", "made"), [*RRC.items(), *LX.items()])
def test_frames_are_the_golden_ones_both_ways(golden: str, made: bytes) -> None:
    assert made.hex().upper() == golden
    framer = Framer(rrc.RrcFormat() if golden.startswith("AA") else lx16a.LxFormat())
    assert framer.feed(bytes.fromhex(golden)) == [bytes.fromhex(golden)]


def test_answers_are_read_only_when_they_answer_the_question() -> None:
    data = bytes.fromhex("AA5505050A0500FB01FA")[4:-1]
    assert rrc.read_answer(data, 10, rrc.READ_POSITION) == (507,)
    assert rrc.read_answer(data, 9, rrc.READ_POSITION) is None
    assert rrc.read_answer(data, 10, rrc.READ_VOLTAGE) is None
    assert rrc.read_answer(data[:2] + b"\x01" + data[3:], 10, rrc.READ_POSITION) is None, "only where it was learnt that 1 means done"
    assert rrc.read_answer(data[:2] + b"\x01" + data[3:], 10, rrc.READ_POSITION, done=1) == (507,)
    assert rrc.read_answer(data[:2] + b"\xff" + data[3:], 10, rrc.READ_POSITION) is None, "FF is failed"
    echo, answer = lx16a.frame(1, lx16a.READ_POSITION), lx16a.frame(1, lx16a.READ_POSITION, struct.pack("<h", -7))
    assert lx16a.read_answer(echo, 1, lx16a.READ_POSITION) is None
    assert lx16a.read_answer(answer, 1, lx16a.READ_POSITION) == (-7,)


@pytest.mark.parametrize("wire", [rrc.RrcFormat(), lx16a.LxFormat()])
def test_every_whole_frame_is_found_again_after_noise_however_the_bytes_come(wire: rrc.RrcFormat | lx16a.LxFormat) -> None:
    generator = random.Random(1)
    golden = list(RRC.values()) if isinstance(wire, rrc.RrcFormat) else list(LX.values())
    for _ in range(300):
        frames = [generator.choice(golden) for _ in range(3)]
        noise = bytes(generator.choices(range(256), k=generator.randrange(12)))
        stream = noise.replace(wire.header[:1], b"\0") + b"".join(frames)
        framer, found = Framer(wire), []
        while stream:
            cut = generator.randrange(1, 9)
            found += framer.feed(stream[:cut])
            stream = stream[cut:]
        assert found == frames


def test_a_damaged_frame_costs_no_frame_that_follows() -> None:
    good = LX["555501051CF401E8"]
    for at in range(len(good)):
        framer = Framer(lx16a.LxFormat())
        spoilt = good[:at] + bytes((good[at] ^ 0x10,)) + good[at + 1 :]
        found = framer.feed(spoilt + good * 3)
        assert good in found and all(frame == good for frame in found)
