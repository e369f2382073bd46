"""Files of recordings: read again, in time, also cut off; pictures come out as they went in."""

import contextlib
import resource

import numpy as np
import pytest
import yaml
from mcap.reader import make_reader

from deskhand.errors import DeskhandError
from deskhand.recording.episode import messages
from deskhand.recording.mcap_file import McapFile
from deskhand.recording.pictures import depth_from_png, depth_to_png, from_jpeg, millimetres, to_jpeg
from deskhand.recording.qos import LATCHED, OfferedQos
from deskhand.recording.reader import Recording, mcap_in


def write(path, stamps, live=False):
    with McapFile(path, live) as file:
        file.metadata("deskhand", {"arm": "jetarm"})
        for stamp in stamps:
            file.write("/words", messages.STRING, messages.DEFINITIONS[messages.STRING], {"data": f"{stamp:g}"}, stamp)
    return Recording(path)


def test_records_come_as_written_or_in_their_time(tmp_path):
    recording = write(tmp_path / "a.mcap", [3.0, 1.0, 2.0])
    assert [record.message.data for record in recording] == ["3", "1", "2"] and recording.complete
    assert [record.stamp for record in recording.in_time()] == [1.0, 2.0, 3.0]
    assert recording.metadata() == {"arm": "jetarm"} and recording.metadata("other") == {}


def test_a_file_that_was_cut_off_is_read_up_to_there(tmp_path):
    whole = write(tmp_path / "a.mcap", [float(n) for n in range(20)], live=True).path.read_bytes()
    (tmp_path / "b.mcap").write_bytes(whole[: len(whole) // 3])
    cut = Recording(tmp_path / "b.mcap")
    got = [record.stamp for record in cut.in_time()]
    assert 0 < len(got) < 20 and got == sorted(got) and not cut.complete


def test_a_folder_must_hold_one_recording(tmp_path):
    with pytest.raises(DeskhandError, match="0 of them"):
        mcap_in(tmp_path)
    write(tmp_path / "a.mcap", [1.0])
    assert mcap_in(tmp_path) == tmp_path / "a.mcap"
    (tmp_path / "noise.txt").write_text("no recording at all")
    with pytest.raises(DeskhandError, match="not an MCAP"):
        list(Recording(tmp_path / "noise.txt"))


def test_two_files_with_other_schemas_do_not_mix(tmp_path):
    write(tmp_path / "a.mcap", [1.0])
    with McapFile(tmp_path / "b.mcap") as file:
        joints = {"header": {"stamp": {"sec": 1, "nanosec": 0}, "frame_id": ""}, "name": ["waist"], "position": [0.5], "velocity": [], "effort": []}
        file.write("/joints", messages.JOINT_STATE, messages.DEFINITIONS[messages.JOINT_STATE], joints, 1.0)
    assert [record.message.data for record in Recording(tmp_path / "a.mcap")] == ["1"]
    assert [record.message.position[0] for record in Recording(tmp_path / "b.mcap")] == [0.5]


def test_depth_is_kept_to_the_millimetre_and_colour_nearly():
    rng = np.random.default_rng(0)
    metres = rng.uniform(0.2, 2.0, (48, 64)).astype(np.float32)
    metres[3] = np.nan
    kept = depth_from_png(depth_to_png(millimetres(metres)))
    assert np.array_equal(kept, millimetres(metres)) and not kept[3].any()
    color = np.tile(np.linspace(0, 255, 64).astype(np.uint8)[None, :, None], (48, 1, 3))
    assert np.abs(from_jpeg(to_jpeg(color)).astype(int) - color).max() < 12
    with pytest.raises(DeskhandError):
        depth_from_png(b"short")


def test_a_topic_says_how_it_was_offered_as_rosbag2_writes_it_and_the_file_that_policies_are_numbers(tmp_path):
    with McapFile(tmp_path / "a.mcap") as file:
        definition = messages.DEFINITIONS[messages.STRING]
        file.write("/words", messages.STRING, definition, {"data": "x"}, 1.0, (OfferedQos(5, reliable=False), LATCHED))
        file.write("/usual", messages.STRING, definition, {"data": "x"}, 1.0)
    with (tmp_path / "a.mcap").open("rb") as stream:
        reader = make_reader(stream)
        channels = {channel.topic: yaml.safe_load(channel.metadata["offered_qos_profiles"]) for channel in reader.get_summary().channels.values()}
        bag = {record.name: record.metadata for record in reader.iter_metadata()}["rosbag2"]
    assert set(bag) == {"ROS_DISTRO", "serialized_metadata"} and not bag["serialized_metadata"]  # Jazzy: "older than version 9"
    endless = {"sec": 9223372036, "nsec": 854775807}
    usual = {"history": 1, "depth": 10, "reliability": 1, "durability": 2, "deadline": endless, "lifespan": endless, "liveliness": 1}
    usual |= {"liveliness_lease_duration": endless, "avoid_ros_namespace_conventions": False}
    assert channels == {"/usual": [usual], "/words": [usual | {"depth": 5, "reliability": 2}, usual | {"depth": 1, "durability": 1}]}


@contextlib.contextmanager
def room_for(size):
    """Files of this process may grow to ``size`` bytes: the operating system refuses more, as a full disk does."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


@pytest.mark.parametrize("live", [True, False])
def test_a_full_disk_ends_the_recording_and_nothing_else(tmp_path, live):
    random = np.random.default_rng(0)
    with room_for(200_000), McapFile(tmp_path / "a.mcap", live) as file:
        for number in range(400):
            text = {"data": random.bytes(2500).hex()}  # which packs to half
            file.write("/words", messages.STRING, messages.DEFINITIONS[messages.STRING], text, float(number))
        assert "File too large" in file.problem
    assert "File too large" in file.problem
    if live:
        assert len(list(Recording(tmp_path / "a.mcap"))) > 20, "what was written before can be read"


def test_a_disk_that_is_full_at_the_start_is_a_clear_error(tmp_path):
    (tmp_path / "a.mcap").symlink_to("/dev/full")
    with pytest.raises(DeskhandError, match="No space left") as caught:
        McapFile(tmp_path / "a.mcap").open()
    assert caught.value.code == "config_error"


def test_samples_of_a_live_file_go_together_and_whatever_else_comes_takes_them_along(tmp_path):
    text = messages.DEFINITIONS[messages.STRING]
    with McapFile(tmp_path / "a.mcap") as file:
        for number in range(200):
            file.write("/samples", messages.STRING, text, {"data": f"{number}"}, float(number), sample=True)
        file.write("/words", messages.STRING, text, {"data": "said"}, 200.0)
        (tmp_path / "killed.mcap").write_bytes((tmp_path / "a.mcap").read_bytes())
        file.write("/samples", messages.STRING, text, {"data": "last"}, 201.0, sample=True)
    killed = [record.message.data for record in Recording(tmp_path / "killed.mcap")]
    assert killed == [*map(str, range(200)), "said"], "nothing that came before the word is lost"
    assert [record.message.data for record in Recording(tmp_path / "a.mcap")] == [*killed, "last"]
    with (tmp_path / "a.mcap").open("rb") as stream:
        assert len(make_reader(stream).get_summary().chunk_indexes) < 20, "each chunk stays in the writer's memory until the end"
