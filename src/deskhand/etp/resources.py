"""What is too large for JSON: images, depth, clouds, trajectories, kept here and handed on by reference."""

from __future__ import annotations

import io
import json
import logging
import tempfile
import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError

log = logging.getLogger(__name__)

SCHEME = "deskhand://"
IMAGE, JPEG = "image/png", "image/jpeg"
ARRAY = "application/x-npy"
DEPTH = "application/x-npy; kind=depth"
"""(H, W) float [m], NaN where nothing was measured."""
POINTS = "application/x-npy; kind=points"
"""(N, 3) points [m], or (N, 6) with colour 0..255."""
JSON = "application/json"
TRAJECTORY = "application/json; kind=trajectory"
MAX_BYTES = 256 * 2**20


class ResourceRef(TypedDict):
    """A resource as it stands in a result; its content is fetched by ``uri``."""

    uri: str
    media_type: str
    bytes: int
    text: str


@dataclass(frozen=True)
class Resource:
    """The content of a resource as it is stored, and what it shows."""

    uri: str
    media_type: str
    data: bytes
    text: str = ""

    @property
    def ref(self) -> ResourceRef:
        """The reference that stands for it in results."""
        return ResourceRef(uri=self.uri, media_type=self.media_type, bytes=len(self.data), text=self.text)

    def array(self) -> npt.NDArray[Any]:
        """As an array: an image (H, W, 3) uint8 RGB, depth, points or what was put.

        Raises:
            DeskhandError: ``invalid_input`` when it is none.
        """
        if self.media_type.startswith("image/"):
            return _decode_image(self.data)
        if not self.media_type.startswith(ARRAY):
            raise DeskhandError("invalid_input", f"{self.uri} is {self.media_type}, not an array.")
        array: npt.NDArray[Any] = np.load(io.BytesIO(self.data), allow_pickle=False)
        return array

    def json(self) -> Any:
        """As JSON data.

        Raises:
            DeskhandError: ``invalid_input`` when it is none.
        """
        if not self.media_type.startswith(JSON):
            raise DeskhandError("invalid_input", f"{self.uri} is {self.media_type}, not JSON.")
        return json.loads(self.data)


class Resources(Protocol):
    """What a tool sees of the store."""

    def put(self, data: Any, media_type: str = "", text: str = "") -> ResourceRef:
        """Keep ``data``; see :func:`encoded` for what it may be."""
        ...

    def get(self, uri: str) -> Resource:
        """The resource of that address. Raises ``unknown_resource``."""
        ...


class ResourceStore:
    """Resources of a session: in memory up to ``memory`` bytes, then in a folder up to ``disk`` bytes, then the least recently used is dropped.

    Args:
        folder: where they go; None for a temporary folder, made when it is first needed. What is in it is removed by :meth:`close`.
    """

    def __init__(self, folder: Path | None = None, memory: int = 256 * 2**20, disk: int = 2**30) -> None:
        self._folder, self._memory, self._disk = folder, memory, disk
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._held: OrderedDict[str, Resource] = OrderedDict()
        self._spilled: OrderedDict[str, tuple[Path, ResourceRef]] = OrderedDict()
        self._held_bytes = self._spilled_bytes = 0
        self._sources: list[Callable[[str], Resource]] = []
        self._lock = threading.RLock()

    def put(self, data: Any, media_type: str = "", text: str = "") -> ResourceRef:
        """Keep ``data``; the reference to put into a result.

        Raises:
            DeskhandError: ``invalid_input`` when it is not what ``media_type`` says, ``limit_exceeded`` when it is too large.
        """
        content, media_type = encoded(data, media_type)
        resource = Resource(f"{SCHEME}{uuid.uuid4().hex[:16]}", media_type, content, text[:500])
        self._keep(resource)
        return resource.ref

    def get(self, uri: str) -> Resource:
        """The resource of that address.

        Raises:
            DeskhandError: ``unknown_resource``: it never was, or was dropped for newer ones.
        """
        with self._lock:
            if uri in self._held:
                self._held.move_to_end(uri)
                return self._held[uri]
            if uri in self._spilled:
                file, ref = self._spilled[uri]
                self._spilled.move_to_end(uri)
                try:
                    return Resource(uri, ref["media_type"], file.read_bytes(), ref["text"])
                except OSError as error:
                    raise DeskhandError("unknown_resource", f"{uri} was kept in {file}, which cannot be read: {error}.") from error
        for source in list(self._sources):
            try:
                return source(uri)
            except DeskhandError as error:
                if error.code != "unknown_resource":
                    raise
        raise DeskhandError("unknown_resource", f"there is no resource {uri[:80]!r} (any more).", hint="Call the tool that made it again.")

    def also(self, source: Callable[[str], Resource]) -> None:
        """Ask ``source`` for what is not here: where the resources of mounted tools are."""
        self._sources.append(source)

    def refs(self) -> list[ResourceRef]:
        """All there are, the latest used last."""
        with self._lock:
            return [ref for _, ref in self._spilled.values()] + [resource.ref for resource in self._held.values()]

    def close(self) -> None:
        """Forget all."""
        with self._lock:
            for file, _ in self._spilled.values():
                file.unlink(missing_ok=True)
            self._held.clear()
            self._spilled.clear()
            self._held_bytes = self._spilled_bytes = 0
            if self._temporary is not None:
                self._temporary.cleanup()
                self._temporary = None

    def _keep(self, resource: Resource) -> None:
        with self._lock:
            self._held[resource.uri] = resource
            self._held_bytes += len(resource.data)
            while self._held_bytes > self._memory and self._held:
                _, oldest = self._held.popitem(last=False)
                self._held_bytes -= len(oldest.data)
                self._spill(oldest)

    def _spill(self, resource: Resource) -> None:
        file = self._where() / resource.uri.removeprefix(SCHEME)
        try:
            file.write_bytes(resource.data)
        except OSError as error:
            log.warning("resource %s was dropped: %s cannot be written: %s", resource.uri, file, error)
            return
        self._spilled[resource.uri] = (file, resource.ref)
        self._spilled_bytes += len(resource.data)
        while self._spilled_bytes > self._disk and self._spilled:
            _, (oldest, ref) = self._spilled.popitem(last=False)
            self._spilled_bytes -= ref["bytes"]
            oldest.unlink(missing_ok=True)

    def _where(self) -> Path:
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
            return self._folder
        if self._temporary is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="deskhand-resources-")
        return Path(self._temporary.name)


def encoded(data: Any, media_type: str = "") -> tuple[bytes, str]:
    """The bytes of a resource, and its media type, which is guessed when it is empty.

    (H, W, 3) or (H, W) uint8 arrays become PNG, other arrays npy, mappings and lists JSON; bytes stay what they are and must say what they are.

    Raises:
        DeskhandError: ``invalid_input``, ``limit_exceeded``.
    """
    if isinstance(data, np.ndarray):
        picture = data.dtype == np.uint8 and (data.ndim == 2 or (data.ndim == 3 and data.shape[2] == 3))
        media_type = media_type or (IMAGE if picture else ARRAY)
        if media_type == IMAGE and picture:
            content = _encode_image(data)
        elif media_type.startswith(ARRAY) and not data.dtype.hasobject:
            buffer = io.BytesIO()
            np.save(buffer, data, allow_pickle=False)
            content = buffer.getvalue()
        else:
            raise DeskhandError("invalid_input", f"an array {data.shape} of {data.dtype} is no {media_type}; {IMAGE} takes (H, W, 3) uint8, {ARRAY} numbers.")
    elif isinstance(data, bytes | bytearray):
        if not media_type:
            raise DeskhandError("invalid_input", "bytes must come with their media type.")
        content = bytes(data)
    elif isinstance(data, Mapping | list | tuple):
        media_type = media_type or JSON
        if not media_type.startswith(JSON):
            raise DeskhandError("invalid_input", f"a {type(data).__name__} is no {media_type}; valid: {JSON}.")
        try:
            content = json.dumps(data, allow_nan=False, ensure_ascii=False).encode()
        except (TypeError, ValueError) as error:
            raise DeskhandError("invalid_input", f"what JSON cannot say cannot be kept as a resource: {error}.") from error
    else:
        raise DeskhandError("invalid_input", f"a {type(data).__name__} cannot be kept as a resource; valid: arrays, bytes, mappings, lists.")
    if len(content) > MAX_BYTES:
        raise DeskhandError("limit_exceeded", f"a resource of {len(content) >> 20} MB is too large; at most {MAX_BYTES >> 20} MB.")
    return content, media_type


def _encode_image(image: npt.NDArray[np.uint8]) -> bytes:
    import cv2

    done, buffer = cv2.imencode(".png", image[..., ::-1] if image.ndim == 3 else image, [cv2.IMWRITE_PNG_COMPRESSION, 1])
    if not done:
        raise DeskhandError("invalid_input", f"an image {image.shape} cannot be encoded.")
    return buffer.tobytes()


def _decode_image(data: bytes) -> npt.NDArray[np.uint8]:
    import cv2

    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    if image is None:
        raise DeskhandError("invalid_input", "the bytes are no image that can be read.")
    return np.asarray(image[..., ::-1], np.uint8)
