"""One reply of a model, without waiting longer than the run may."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from deskhand.agent.ends import End
from deskhand.errors import DeskhandError
from deskhand.llm.base import ChatModel, Message, Reply

T = TypeVar("T")
log = logging.getLogger(__name__)


def ask(
    model: ChatModel,
    messages: Sequence[Message],
    cards: Sequence[Mapping[str, Any]],
    check: Callable[[], None],
    schema: Mapping[str, Any] | None = None,
) -> Reply:
    """The reply; a cancel or the end of the time budget (what ``check`` raises) does not wait for a slow server.

    Raises:
        End: with the model's code when there is none.
    """
    answer = waited(lambda: model.reply(messages, cards, schema), check, getattr(model, "cancel", None))
    if isinstance(answer, DeskhandError):
        raise End(answer.code, f"the language model gave no reply: {answer}")
    if isinstance(answer, BaseException):
        log.error("model %s failed", model.name, exc_info=answer)
        raise End("model_failed", f"the language model {model.name} failed: {type(answer).__name__}: {answer}")
    if answer.usage.prompt_chars or not answer.asked:
        return answer
    return replace(answer, usage=replace(answer.usage, prompt_chars=sum(len(message.content) for message in messages)))


def waited(work: Callable[[], T], check: Callable[[], None], cancel: Callable[[], None] | None) -> T | BaseException:
    """What ``work`` gives or raises. What ``check`` raises meanwhile does not wait for it: ``cancel`` then tells the server that it need not go on.

    Raises:
        End: of ``check``.
    """
    box: list[T | BaseException] = []

    def run() -> None:
        try:
            box.append(work())
        except BaseException as error:
            box.append(error)

    thread = threading.Thread(target=run, daemon=True, name="model reply")
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.05)
            if thread.is_alive():
                check()
    except End:
        if cancel is not None:
            cancel()
        raise
    return box[0]


def digest(messages: Sequence[Message]) -> str:
    """Of a conversation, for the record."""
    whole = hashlib.sha256()
    for message in messages:
        whole.update(f"{message.role}\0{message.content}\0{message.tool_calls}\0".encode())
        for image in message.images:
            whole.update(image)
    return whole.hexdigest()[:32]
