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
# Made by running the vendor's public SDK (ros_robot_controller_sdk.py) with a port that keeps what is written.
SDK = {
    "AA55050A01E8030201F40102300275": rrc.move_frame({1: 500, 2: 560}, 1000),
    "AA55050701220101014D0196": rrc.move_frame({1: 333}, 290),
    "AA55050701730A0102000057": rrc.move_frame({2: 0}, 2675),
    "AA550508030601020304050AE8": rrc.ids_frame(rrc.STOP, (1, 2, 3, 4, 5, 10)),
    "AA5505020B048C": rrc.servo_frame(rrc.TORQUE_OFF, b"\x04"),  # what its bus_servo_enable_torque(4, 1) sends
    "AA5505020C04E2": rrc.servo_frame(rrc.TORQUE_ON, b"\x04"),
    "AA55050310FE07D6": rrc.servo_frame(rrc.WRITE_ID, b"\xfe\x07"),
    "AA5505032003F48E": rrc.servo_frame(rrc.SET_OFFSET, struct.pack("<Bb", 3, -12)),
    "AA5505022403D6": rrc.servo_frame(rrc.SAVE_OFFSET, b"\x03"),
    "AA55050630021400D40301": rrc.servo_frame(rrc.WRITE_ANGLES, struct.pack("<BHH", 2, 20, 980)),
    "AA55050634029411B03605": rrc.servo_frame(rrc.WRITE_VOLTAGES, struct.pack("<BHH", 2, 4500, 14000)),
    "AA550503380255D4": rrc.servo_frame(rrc.WRITE_MAX_TEMPERATURE, struct.pack("<Bb", 2, 85)),
    "AA550502050A4F": rrc.servo_frame(rrc.READ_POSITION, b"\x0a"),
    "AA550502070342": rrc.servo_frame(rrc.READ_VOLTAGE, b"\x03"),
    "AA55050209039E": rrc.servo_frame(rrc.READ_TEMPERATURE, b"\x03"),
    "AA55050222037C": rrc.servo_frame(rrc.READ_OFFSET, b"\x03"),
    "AA550502320390": rrc.servo_frame(rrc.READ_ANGLES, b"\x03"),
    "AA5505020D03A5": rrc.servo_frame(rrc.READ_TORQUE, b"\x03"),
}
# The data of answers and what the SDK's reads return for them; None: its word for a status that is not 0.
SDK_READS = {
    "0a0500fb01": (10, rrc.READ_POSITION, (507,)),
    "0a05ff0000": (10, rrc.READ_POSITION, None),
    "0a0501fb01": (10, rrc.READ_POSITION, None),
    "030700182e": (3, rrc.READ_VOLTAGE, (11800,)),
    "03090029": (3, rrc.READ_TEMPERATURE, (41,)),
    "032200f4": (3, rrc.READ_OFFSET, (-12,)),
    "0332001400d403": (3, rrc.READ_ANGLES, (20, 980)),
    "030d0001": (3, rrc.READ_TORQUE, (1,)),
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


@pytest.mark.parametrize(("golden", "made"), [*RRC.items(), *SDK.items(), *LX.items()])
def test_frames_are_the_golden_ones_both_ways(golden: str, made: bytes) -> None:
    assert made.hex().upper() == golden
    framer = Framer(rrc.RrcFormat() if golden.startswith("AA") else lx16a.LxFormat())
    assert framer.feed(bytes.fromhex(golden)) == [bytes.fromhex(golden)]


@pytest.mark.parametrize(("data", "read"), SDK_READS.items())
def test_answers_are_read_as_the_vendors_sdk_reads_them(data: str, read: tuple[int, int, tuple[int, ...] | None]) -> None:
    servo, sub, values = read
    assert rrc.read_answer(bytes.fromhex(data), servo, sub) == values


@pytest.mark.parametrize(("seconds", "golden"), [(0.0596, "AA55050D013B000303730004820005F401D3"), (0.0199, "AA550507011300010AC800CE")])
def test_times_are_rounded_to_the_millisecond_where_the_sdk_cuts_them_off(seconds: float, golden: str) -> None:
    theirs = bytes.fromhex(golden)
    sent: list[bytes] = []
    bus = rrc.RrcBus("nowhere")
    bus._send = sent.append  # type: ignore[method-assign]
    bus.move({theirs[8 + 3 * k]: theirs[9 + 3 * k] | theirs[10 + 3 * k] << 8 for k in range(theirs[7])}, seconds)
    assert struct.unpack("<H", sent[0][5:7])[0] == round(1000 * seconds) == struct.unpack("<H", theirs[5:7])[0] + 1
    assert sent[0][7:-1] == theirs[7:-1]


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
