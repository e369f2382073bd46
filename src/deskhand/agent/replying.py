"""One reply of a model, without waiting longer than the run may."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from deskhand.agent.spent import End
from deskhand.errors import DeskhandError
from deskhand.llm.base import ChatModel, Message, Reply

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
    box: list[Reply | BaseException] = []

    def work() -> None:
        try:
            box.append(model.reply(messages, cards, schema))
        except BaseException as error:
            box.append(error)

    thread = threading.Thread(target=work, daemon=True, name="model reply")
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.05)
            if thread.is_alive():
                check()
    except End:
        getattr(model, "cancel", lambda: None)()  # the server need not write to the end
        raise
    answer = box[0]
    if isinstance(answer, DeskhandError):
        raise End(answer.code, f"the language model gave no reply: {answer}")
    if isinstance(answer, BaseException):
        log.error("model %s failed", model.name, exc_info=answer)
        raise End("model_failed", f"the language model {model.name} failed: {type(answer).__name__}: {answer}")
    if answer.usage.prompt_chars or not answer.asked:
        return answer
    return replace(answer, usage=replace(answer.usage, prompt_chars=sum(len(message.content) for message in messages)))


def digest(messages: Sequence[Message]) -> str:
    """Of a conversation, for the record."""
    whole = hashlib.sha256()
    for message in messages:
        whole.update(f"{message.role}\0{message.content}\0{message.tool_calls}\0".encode())
        for image in message.images:
            whole.update(image)
    return whole.hexdigest()[:32]
