import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest
import remembered
from remembered import an_object, at, scene

from deskhand.errors import DeskhandError
from deskhand.language.past.query import Kinds, Query, When, ask
from deskhand.language.past.telling import answer
from deskhand.language.past.words import parse
from deskhand.world.history.reader import MemoryReader
from deskhand.world.history.recorder import Memory, known_objects

BLOCK, PEN = an_object("block_1", "red", 0.0, 0.1), an_object("pen_7", "blue", 0.1, -0.1)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "deep/memory.sqlite"


def test_a_restart_goes_on_where_the_memory_ended(file):
    with Memory(file) as memory:
        memory.looked(scene(100.0, BLOCK, PEN))
    with Memory(file) as memory:
        assert memory.session == 2 and memory.state("pen_7").status == "seen"
        (moved,) = memory.looked(scene(1.0, at(BLOCK, 0.2, 0.2), PEN))  # the clock begins anew
        assert moved.kind == "moved" and moved.moment.id == 2
        assert ask(memory, Query(Kinds(ids=frozenset({"block_1"})), when=When("before")))[0].object.position[0] == 0.0
        assert "earlier session" in answer(memory, parse("where was block_1 before", 1.0)).text
        assert [moment.session for moment in (memory.moment(1), memory.moment(2))] == [1, 2]


def test_what_perception_needs_so_that_its_ids_go_on(file):
    assert known_objects(file) == ((), {})
    with Memory(file) as memory:
        memory.looked(scene(1.0, BLOCK, PEN))
        memory.looked(scene(2.0, PEN), lambda item: "gone")
    known, numbers = known_objects(file)
    assert [item.id for item in known] == ["pen_7"] and numbers == {"block": 1, "pen": 7}


def test_a_killed_writer_loses_nothing_that_it_was_told(file):
    program = textwrap.dedent(f"""
        import sys
        from remembered import an_object, at, scene
        from deskhand.world.history.recorder import Memory
        memory = Memory({str(file)!r}).open()
        block = an_object("block_1", "red", 0.0, 0.1)
        for stamp in range(50):
            memory.looked(scene(float(stamp), at(block, 0.02 * stamp, 0.1)))
        print("done", flush=True)
        sys.stdin.read()
    """)
    writer = subprocess.Popen([sys.executable, "-c", program], cwd=Path(remembered.__file__).parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert writer.stdout.readline() == "done\n"
    with MemoryReader(file) as reader:  # while the other process has it open
        assert len(reader.history("block_1")) == 50
    with pytest.raises(DeskhandError, match=f"process {writer.pid}") as error:
        Memory(file).open()
    assert error.value.code == "memory_busy"
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    with Memory(file) as memory:
        assert len(memory.history("block_1")) == 50 and memory.last_moment().stamp == 49.0
        memory.looked(scene(0.0, BLOCK))
        assert memory.last_moment().id == 51


def test_a_reader_sees_each_write_as_a_whole_while_another_writes(file):
    with Memory(file) as memory:
        memory.looked(scene(0.0, BLOCK, PEN))
        wrong, stop = [], threading.Event()

        def read():
            with MemoryReader(file) as reader:
                while not stop.is_set():
                    states = {state.object_id: state for state in reader.states_now()}
                    # both move in every look, by the same: a half-written look would show one of them ahead
                    wrong.extend([] if abs(states["block_1"].object.position[0] + 0.1 - states["pen_7"].object.position[0]) < 1e-9 else [states])

        thread = threading.Thread(target=read)
        thread.start()
        for stamp in range(1, 60):
            memory.looked(scene(float(stamp), at(BLOCK, 0.02 * stamp, 0.1), at(PEN, 0.1 + 0.02 * stamp, -0.1)))
        stop.set()
        thread.join()
        assert wrong == []


def test_while_another_program_holds_the_file_nothing_is_lost(file, monkeypatch):
    monkeypatch.setattr("deskhand.world.history.store.BUSY", 0.05)
    with Memory(file) as memory:
        memory.looked(scene(1.0, BLOCK))
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        assert memory.looked(scene(2.0, at(BLOCK, 0.2, 0.0)))[0].kind == "moved"  # the robot goes on
        assert memory._store.waiting == 1
        with pytest.raises(DeskhandError) as error:
            memory.state("block_1")
        assert error.value.code == "memory_busy" and error.value.retry
        with pytest.raises(DeskhandError):
            memory.close()
        other.execute("ROLLBACK")
        other.close()
        assert memory.state("block_1").object.position[0] == pytest.approx(0.2)
    with MemoryReader(file) as reader:
        assert [event.kind for event in reader.events()] == ["added", "moved"]


@pytest.mark.parametrize("content", [b"no database at all, but longer than a header of one hundred bytes would be" * 4, b"SQLite format 3\0" + b"\xff" * 3000])
def test_a_broken_file_is_a_clear_error_and_stays_as_it_is(file, content):
    file.parent.mkdir()
    file.write_bytes(content)
    for kind in (Memory, MemoryReader):
        with pytest.raises(DeskhandError) as error:
            kind(file).open()
        assert error.value.code == "memory_broken" and str(file) in str(error.value)
    assert file.read_bytes() == content


def test_a_damaged_memory_is_found_out(file):
    with Memory(file) as memory:
        for stamp in range(200):
            memory.looked(scene(float(stamp), at(BLOCK, 0.02 * stamp, 0.1)))
    data = bytearray(file.read_bytes())
    data[4096:12288] = b"\xab" * 8192
    file.write_bytes(data)
    with pytest.raises(DeskhandError) as error:
        Memory(file).open()
    assert error.value.code == "memory_broken"


def test_the_file_of_another_program_or_version_is_refused(file):
    file.parent.mkdir()
    with sqlite3.connect(file) as other:
        other.execute("CREATE TABLE notes(text)")
    with pytest.raises(DeskhandError, match="no memory of version") as error:
        Memory(file).open()
    assert error.value.code == "memory_broken"
    with Memory(file.with_name("other.sqlite")):
        pass
    with sqlite3.connect(file.with_name("other.sqlite")) as other:
        other.execute("PRAGMA user_version=99")
    with pytest.raises(DeskhandError, match="99"):
        Memory(file.with_name("other.sqlite")).open()


def test_a_reader_needs_a_file_and_a_writer_a_folder_it_may_write(file, tmp_path):
    with pytest.raises(DeskhandError) as error:
        MemoryReader(file).open()
    assert error.value.code == "config_error"
    (tmp_path / "plain").write_text("")
    with pytest.raises(DeskhandError) as error:
        Memory(tmp_path / "plain/memory.sqlite").open()
    assert error.value.code == "config_error"
