"""Episodes as a LeRobot dataset (format v3.0): parquet files of frames, and JSON and parquet files about them, as the package ``lerobot`` reads them.

The format is that of https://huggingface.co/docs/lerobot/lerobot-dataset-v3. Pictures are the JPEG files of the recording, in the frames' own files
(feature type ``image``); depth is a PNG of 16 bits in millimetres of a camera of its own, ``observation.images.<camera>_depth``, with ``is_depth_map`` in its
``info``: LeRobot names no other convention, and its videos would lose depth.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.recording.episode.lerobot_stats import FrameStats, of_all, of_pictures, of_vectors
from deskhand.recording.episode.samples import FILE as SAMPLES
from deskhand.recording.episode.samples import Sample, Samples

CODEBASE_VERSION = "v3.0"
CHUNK, DATA_MB, VIDEO_MB = 1000, 100, 200
"""Files in a folder, and how large they may get [MB]: LeRobot's own defaults."""
DATA_PATH = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
EPISODES_PATH = "meta/episodes/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
NUMBERS = ("timestamp", "frame_index", "episode_index", "index", "task_index")
PICTURE_NAMES = ["height", "width", "channels"]
LATE = 0.25
"""A sample may be so much of a period off its even time: LeRobot's loader takes times as even."""


@dataclass(frozen=True)
class Source:
    """One episode to export."""

    folder: Path
    samples: Samples
    result: dict[str, Any]

    @property
    def success(self) -> bool:
        """The scorer's word where there is one, else the robot's own."""
        return bool(self.result.get("success"))


def find_sources(paths: Sequence[Path], only_successes: bool = False) -> list[Source]:
    """Episodes with samples in and below ``paths``, in order, each once.

    Raises:
        DeskhandError: ``invalid_input`` where there are none.
    """
    folders: dict[Path, None] = {}
    for path in paths:
        folders |= dict.fromkeys(sorted(file.parent.parent for file in Path(path).rglob(str(SAMPLES))))
    sources = [Source(folder, Samples(folder), _result(folder)) for folder in folders]
    kept = [source for source in sources if source.success or not only_successes]
    if not kept:
        what = "none of the episodes succeeded" if sources else f"no episode has samples ({SAMPLES})"
        text = f"{what} in {', '.join(map(str, paths))}."
        raise DeskhandError("invalid_input", text, hint="Record them: deskhand trial TASK --expert --local, or --record-rate 10.")
    return kept


def _result(folder: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads((folder / "result.json").read_text())
    except (OSError, ValueError) as error:
        raise DeskhandError("invalid_input", f"{folder} has no result that can be read: {error}.") from error
    return found


class LeRobotWriter:
    """Writes a dataset into a new folder, an episode at a time; ``depth``: with the cameras' depth, where it was recorded.

    Raises:
        DeskhandError: ``missing_dependency`` without pyarrow; ``invalid_input`` when the folder is there, or episodes do not go together.
    """

    def __init__(self, folder: Path, depth: bool = True) -> None:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError as error:
            raise DeskhandError("missing_dependency", "export lerobot needs the package pyarrow.", hint="Install it: pip install pyarrow.") from error
        self._arrow, self.folder, self._depth = pyarrow, Path(folder), depth
        if self.folder.exists() and any(self.folder.iterdir()):
            raise DeskhandError("invalid_input", f"{folder} is there already.", hint="Give a new folder with --out.")
        self.features: dict[str, dict[str, Any]] = {}
        self.tasks: dict[str, int] = {}
        self.frames = 0
        self._fps, self._arm = 0, ""
        self._episodes: list[dict[str, Any]] = []
        self._stats: list[dict[str, FrameStats]] = []
        self._file, self._size = 0, 0
        self._data: Any = None

    @property
    def episodes(self) -> int:
        """How many there are."""
        return len(self._episodes)

    def add(self, source: Source) -> None:
        """One more episode."""
        frames = list(_even(source))
        if not frames:
            raise DeskhandError("invalid_input", f"{source.folder} has no whole sample.")
        self._agree(source, frames[0])
        rows = self._rows(source, frames)
        size = sum(len(each["bytes"]) for key in self._cameras for each in rows[key])
        if self._data is not None and self._size + size > DATA_MB * 2**20:
            self._data.close()
            self._data, self._file, self._size = None, self._file + 1, 0
        table = self._arrow.table(rows, schema=self._schema())
        if self._data is None:
            path = self.folder / DATA_PATH.format(**_place(self._file))
            path.parent.mkdir(parents=True, exist_ok=True)
            self._data = self._arrow.parquet.ParquetWriter(path, table.schema, compression="snappy")
        self._data.write_table(table)
        self._size += size
        self._note(source, frames, rows)

    def _agree(self, source: Source, first: Sample) -> None:
        """The first episode says what all have."""
        rate, arm = source.samples.rate, str(source.result.get("arm", ""))
        if abs(rate - round(rate)) > 1e-9 or rate < 1:
            raise DeskhandError("invalid_input", f"{source.folder} was recorded at {rate} Hz; LeRobot takes whole numbers.")
        features = _features(source.samples.names, first, self._depth)
        if not self.features:
            self.features, self._fps, self._arm = features, round(rate), arm
        elif (features, round(rate), arm) != (self.features, self._fps, self._arm):
            told = f"{self._arm} at {self._fps} Hz with {', '.join(self.features)}, and {arm} at {rate:g} Hz with {', '.join(features)}"
            raise DeskhandError("invalid_input", f"{source.folder} does not go with the episodes before: {told}.", hint="Make a dataset of each.")

    @property
    def _cameras(self) -> list[str]:
        return [name for name, feature in self.features.items() if feature["dtype"] == "image"]

    def _rows(self, source: Source, frames: Sequence[Sample]) -> dict[str, list[Any]]:
        count = len(frames)
        last = [False] * (count - 1) + [True]
        rows: dict[str, list[Any]] = {
            "observation.state": [frame.state.astype(np.float32).tolist() for frame in frames],
            "action": [frame.action.astype(np.float32).tolist() for frame in frames],
        }
        for name in self._cameras:
            rows[name] = [
                {"bytes": _picture(frame, name), "path": f"frame-{index:06d}.{'png' if name.endswith('_depth') else 'jpg'}"}
                for index, frame in enumerate(frames)
            ]
        rows["next.success"] = [end and source.success for end in last]
        rows["next.done"] = last
        for frame in frames:
            self.tasks.setdefault(frame.task, len(self.tasks))
        rows |= {
            "timestamp": [index / self._fps for index in range(count)],
            "frame_index": list(range(count)),
            "episode_index": [self.episodes] * count,
            "index": list(range(self.frames, self.frames + count)),
            "task_index": [self.tasks[frame.task] for frame in frames],
        }
        return rows

    def _schema(self) -> Any:
        arrow = self._arrow
        picture = arrow.struct([("bytes", arrow.binary()), ("path", arrow.string())])
        types = {"float32": arrow.float32(), "int64": arrow.int64(), "bool": arrow.bool_()}
        fields: list[Any] = []
        told: dict[str, dict[str, Any]] = {}
        for name, feature in self.features.items():
            if feature["dtype"] == "image":
                fields.append((name, picture))
                told[name] = {"_type": "Image"}
            elif feature["shape"] == [1]:
                fields.append((name, types[feature["dtype"]]))
                told[name] = {"dtype": feature["dtype"], "_type": "Value"}
            else:
                fields.append((name, arrow.list_(types[feature["dtype"]], feature["shape"][0])))
                told[name] = {"feature": {"dtype": feature["dtype"], "_type": "Value"}, "length": feature["shape"][0], "_type": "List"}
        return arrow.schema(fields, metadata={"huggingface": json.dumps({"info": {"features": told}})})

    def _note(self, source: Source, frames: Sequence[Sample], rows: dict[str, list[Any]]) -> None:
        """What the files about the frames say of this episode."""
        stats: dict[str, FrameStats] = {}
        for name, feature in self.features.items():
            if feature["dtype"] == "image":
                stats[name] = of_pictures([each["bytes"] for each in rows[name]])
            else:
                stats[name] = of_vectors(np.asarray(rows[name], float).reshape(len(frames), -1))
        place = _place(self._file)
        row: dict[str, Any] = {
            "episode_index": self.episodes,
            "tasks": list(dict.fromkeys(frame.task for frame in frames)),
            "length": len(frames),
            "data/chunk_index": place["chunk_index"],
            "data/file_index": place["file_index"],
            "dataset_from_index": self.frames,
            "dataset_to_index": self.frames + len(frames),
            **{f"stats/{name}/{kind}": value for name, each in stats.items() for kind, value in each.to_json().items()},
            "meta/episodes/chunk_index": 0,
            "meta/episodes/file_index": 0,
            "success": source.success,
            "score": source.result.get("score"),
            "seed": source.result.get("seed"),
            "source": source.folder.name,
        }
        self._episodes.append(row)
        self._stats.append(stats)
        self.frames += len(frames)

    def finish(self) -> dict[str, Any]:
        """Write the files about the frames; gives what is in ``info.json``."""
        arrow, meta = self._arrow, self.folder / "meta"
        self._data.close()
        path = self.folder / EPISODES_PATH.format(**_place(0))
        path.parent.mkdir(parents=True, exist_ok=True)
        arrow.parquet.write_table(arrow.Table.from_pylist(self._episodes), path, compression="snappy")
        self._write_tasks(meta / "tasks.parquet")
        stats = {name: of_all([each[name] for each in self._stats]).to_json() for name in self.features}
        (meta / "stats.json").write_text(json.dumps(stats, indent=4))
        info = {
            "codebase_version": CODEBASE_VERSION,
            "robot_type": self._arm,
            "total_episodes": self.episodes,
            "total_frames": self.frames,
            "total_tasks": len(self.tasks),
            "chunks_size": CHUNK,
            "data_files_size_in_mb": DATA_MB,
            "video_files_size_in_mb": VIDEO_MB,
            "fps": self._fps,
            "splits": {"train": f"0:{self.episodes}"},
            "data_path": DATA_PATH,
            "video_path": None,
            "features": self.features,
        }
        (meta / "info.json").write_text(json.dumps(info, indent=4))
        return info

    def _write_tasks(self, path: Path) -> None:
        """As pandas writes a frame whose index is the text: so LeRobot reads it."""
        arrow = self._arrow
        index = "__index_level_0__"
        columns: list[dict[str, Any]] = [
            {"name": "task_index", "field_name": "task_index", "pandas_type": "int64", "numpy_type": "int64", "metadata": None},
            {"name": None, "field_name": index, "pandas_type": "unicode", "numpy_type": "object", "metadata": None},
        ]
        told: dict[str, Any] = {"index_columns": [index], "column_indexes": [], "columns": columns, "pandas_version": "2.0.0"}
        schema = arrow.schema([("task_index", arrow.int64()), (index, arrow.string())], metadata={"pandas": json.dumps(told)})
        arrow.parquet.write_table(arrow.table({"task_index": list(self.tasks.values()), index: list(self.tasks)}, schema=schema), path)

    def abandon(self) -> None:
        """Remove what was written: a dataset without its files about the frames cannot be read."""
        if self._data is not None:
            self._data.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _place(number: int) -> dict[str, int]:
    return {"chunk_index": number // CHUNK, "file_index": number % CHUNK}


def _even(source: Source) -> Iterator[Sample]:
    """The samples of an episode.

    Raises:
        DeskhandError: ``invalid_input`` where one is missing: the times would be wrong from there on.
    """
    period, due, task = 1 / source.samples.rate, None, ""
    for sample in source.samples:
        if due is not None and sample.task == task and abs(sample.stamp - due) > LATE * period:
            raise DeskhandError(
                "invalid_input", f"{source.folder} lacks samples before {sample.stamp:.3f} s; at {source.samples.rate:g} Hz one was due at {due:.3f} s."
            )
        due, task = sample.stamp + period, sample.task
        yield sample


def _features(names: Sequence[str], sample: Sample, depth: bool) -> dict[str, dict[str, Any]]:
    """LeRobot's ``features``, in the order of the columns."""
    vector = {"dtype": "float32", "shape": [len(names)], "names": list(names)}
    features: dict[str, dict[str, Any]] = {"observation.state": vector, "action": dict(vector)}
    for camera, data in sample.pictures.items():
        features[f"observation.images.{camera}"] = {"dtype": "image", "shape": _shape(data), "names": PICTURE_NAMES}
    for camera, data in sample.depths.items() if depth else ():
        info = {"is_depth_map": True, "unit": "mm", "invalid": 0}
        features[f"observation.images.{camera}_depth"] = {"dtype": "image", "shape": _shape(data), "names": PICTURE_NAMES, "info": info}
    features |= {name: {"dtype": "bool", "shape": [1], "names": None} for name in ("next.success", "next.done")}
    features |= {name: {"dtype": "float32" if name == "timestamp" else "int64", "shape": [1], "names": None} for name in NUMBERS}
    return features


def _picture(sample: Sample, feature: str) -> bytes:
    camera = feature.removeprefix("observation.images.")
    return sample.pictures[camera] if camera in sample.pictures else sample.depths[camera.removesuffix("_depth")]


def _shape(data: bytes) -> list[int]:
    """[H, W, channels]"""
    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if image is None:
        raise DeskhandError("invalid_input", "a recorded picture cannot be read.")
    array: Array = np.asarray(image)
    return [array.shape[0], array.shape[1], array.shape[2] if array.ndim == 3 else 1]
