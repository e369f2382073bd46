"""Our tools as an MCP server: whatever a :class:`~deskhand.etp.base.ToolClient` offers, for any MCP client."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
import threading
import uuid
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import Any

import anyio
import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError

from deskhand.errors import DeskhandError
from deskhand.etp.base import ToolClient, ToolResult
from deskhand.etp.remote.prompts import PROMPTS, prompt_text
from deskhand.etp.remote.watching import WATCHES, WatchResources, watch_of
from deskhand.etp.resources import JSON, SCHEME

Context = ServerRequestContext[Any]

STARTED = {
    "type": "object",
    "properties": {"watch_id": {"type": "string", "description": "for read_events and stop_watch"}},
    "required": ["watch_id"],
    "additionalProperties": False,
}
"""What a call of a continuous tool answers."""
MAX_LISTED = 200
"""Resources that are listed: the latest of those that results of this server referred to."""
INSTRUCTIONS = (
    "Tools of a tabletop robot arm with a gripper and a camera. Look first (detect_objects), act with the ids that it gave, and check the goal by a look "
    "(check_goal) before you say that a task is done. Results may refer to images and clouds by deskhand:// addresses: read them as resources."
)
NOT_FOUND = -32002  # of the Model Context Protocol: there is no such resource


FIND, CALL = "find_tools", "call_tool"
FINDERS = (
    types.Tool(
        name=FIND,
        description="Search all tools of the robot by what they can do; most are not listed. Answers cards with their input schema; call what was found by "
        f"{CALL}.\nWhen: none of the listed tools does what is needed.\nLimits: Ranks by the words of the query; read limits before a call.",
        input_schema={
            "type": "object",
            "properties": {
                "query": {"type": "string", "minLength": 1, "maxLength": 400, "description": "what a tool should do, in words"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 20, "default": 5},
            },
            "required": ["query"],
            "additionalProperties": False,
        },
        annotations=types.ToolAnnotations(read_only_hint=True, destructive_hint=False),
    ),
    types.Tool(
        name=CALL,
        description=f"Call any tool of the robot by its name, listed or not.\nWhen: {FIND} has found it.\nLimits: It may move the arm, if the tool does.",
        input_schema={
            "type": "object",
            "properties": {"name": {"type": "string", "maxLength": 64}, "arguments": {"type": "object", "default": {}}},
            "required": ["name"],
            "additionalProperties": False,
        },
        annotations=types.ToolAnnotations(read_only_hint=False, destructive_hint=True),
    ),
)
"""Offered where not all tools are listed."""
LARGEST_INLINE = 2_000_000  # bytes of a picture that goes into a result itself


class ToolServer:
    """The handlers of an MCP server over ``client``, whose calls block and so run in threads.

    Args:
        offered: names, groups or units of the tools that are listed, beside :data:`FINDERS`; None: all tools.
        pictures: images that results refer to come with them, not only as links.
        version: of this package, told to clients.

    Calls are made as ``mcp/NAME#ID``: the name that the MCP client gave itself, and its session's id where its transport has sessions (HTTP, with protocols
    before 2026-07-28), else this server's own: over stdio that is one client, over HTTP all that come with the token.
    """

    def __init__(self, client: ToolClient, offered: Collection[str] | None = None, pictures: bool = False, version: str = "0") -> None:
        self._client, self._id = client, uuid.uuid4().hex[:6]
        self._offered, self._pictures, self._version = None if offered is None else frozenset(offered), pictures, version
        self._watches = WatchResources(client)
        self._tools: dict[str, types.Tool] = {}
        self._refs: OrderedDict[str, Mapping[str, Any]] = OrderedDict()

    def server(self) -> Server[Any]:
        """The server, for any transport."""
        return Server(
            "deskhand",
            title="deskhand robot",
            version=self._version,
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_subscribe_resource=self._watches.subscribe,
            on_unsubscribe_resource=self._watches.unsubscribe,
            on_subscriptions_listen=self._watches.listen,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    async def _list_tools(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=await anyio.to_thread.run_sync(self._described))

    def _described(self) -> list[types.Tool]:
        try:
            hits = self._client.search()
            chosen = self._offered
            names = [hit.name for hit in hits if chosen is None or {hit.name, hit.group, hit.unit} & chosen]
            for name in names:
                if name not in self._tools:
                    self._tools[name] = tool_of_card(self._client.describe(name))
        except DeskhandError as error:
            raise MCPError(code=types.INTERNAL_ERROR, message=str(error)) from error
        return [*(self._tools[name] for name in names), *(FINDERS if chosen is not None else ())]

    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        loop = asyncio.get_running_loop()
        stop = threading.Event()
        last = 0.0

        def feedback(fraction: float, text: str) -> None:
            nonlocal last
            last = max(fraction, last + 1e-6)  # the protocol wants it to grow with every message
            asyncio.run_coroutine_threadsafe(ctx.session.report_progress(last, 1.0, text), loop)

        name, arguments = params.name, params.arguments or {}
        if self._offered is not None and name == FIND:
            return await anyio.to_thread.run_sync(self._find, arguments)
        if self._offered is not None and name == CALL:
            name, arguments = str(arguments.get("name", "")), arguments.get("arguments") or {}
        call = partial(self._invoke, name, arguments, feedback, stop, self._caller(ctx))
        try:
            return await anyio.to_thread.run_sync(call, abandon_on_cancel=True)
        finally:
            stop.set()

    def _find(self, arguments: Mapping[str, Any]) -> types.CallToolResult:
        try:
            hits = self._client.search(str(arguments.get("query", "")), limit=int(arguments.get("limit", 5)))
            cards = [self._client.describe(hit.name) for hit in hits if hit.available]
        except (DeskhandError, ValueError, TypeError) as error:
            return types.CallToolResult(content=[_text({"code": getattr(error, "code", "invalid_arguments"), "message": str(error)})], is_error=True)
        told = [{key: card[key] for key in ("name", "summary", "when_to_use", "limits", "effects", "input_schema")} for card in cards]
        return types.CallToolResult(content=[_text({"tools": told})], structured_content={"tools": told})

    def _caller(self, ctx: Context) -> str:
        params, headers = ctx.session.client_params, getattr(ctx.request, "headers", {})
        name = re.sub(r"[^A-Za-z0-9._ -]+", "-", params.client_info.name if params else "").strip("- ")[:40]
        session = headers.get("mcp-session-id", "")
        return f"mcp/{name or 'client'}#{hashlib.sha256(session.encode()).hexdigest()[:6] if session else self._id}"

    def _invoke(self, name: str, arguments: Mapping[str, Any], feedback: Any, stop: threading.Event, caller: str) -> types.CallToolResult:
        try:
            result = self._client.invoke(name, arguments, feedback, stop.is_set, caller)
        except DeskhandError as error:  # the robot's own server is gone
            result = ToolResult(error.code, error.message, retry=error.retry, hint=error.hint)
        if not result.ok:
            told = {key: getattr(result, key) for key in ("code", "message", "data", "retry", "hint", "details")}
            return types.CallToolResult(content=[_text(told)], is_error=True)
        content: list[types.ContentBlock] = [_text(result.data)]
        if events := result.details.get("events"):
            content.append(_text({"events": events}))
        for ref in references(result.data):
            self._refs[ref["uri"]] = ref
            content.append(self._picture(ref) or types.ResourceLink(uri=ref["uri"], name=_title(ref), mime_type=ref["media_type"], size=ref["bytes"]))
        while len(self._refs) > MAX_LISTED:
            self._refs.popitem(last=False)
        return types.CallToolResult(content=content, structured_content=result.data)

    def _picture(self, ref: Mapping[str, Any]) -> types.ImageContent | None:
        if not self._pictures or not str(ref["media_type"]).startswith("image/") or int(ref["bytes"]) > LARGEST_INLINE:
            return None
        try:
            data = self._client.resource(ref["uri"]).data
        except DeskhandError:  # it was dropped for newer ones: the link says so when it is followed
            return None
        return types.ImageContent(data=base64.b64encode(data).decode(), mime_type=ref["media_type"])

    async def _list_resources(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        refs = list(self._refs.values())
        resources = [types.Resource(uri=ref["uri"], name=_title(ref), mime_type=ref["media_type"], size=ref["bytes"]) for ref in refs]
        return types.ListResourcesResult(resources=resources)

    async def _list_templates(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            uri_template=f"{SCHEME}{{id}}", name="result", description="An image, array, cloud or trajectory that a tool's result refers to."
        )
        watch = types.ResourceTemplate(
            uri_template=f"{WATCHES}{{watch_id}}", name="watch", description="What a continuous tool has told; subscribe to be notified of every event."
        )
        return types.ListResourceTemplatesResult(resource_templates=[template, watch])

    async def _read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            if watch_id := watch_of(uri):
                told = await anyio.to_thread.run_sync(self._watches.read, watch_id)
                return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=JSON, text=json.dumps(told, ensure_ascii=False))])
            resource = await anyio.to_thread.run_sync(self._client.resource, uri)
        except DeskhandError as error:
            raise MCPError(code=NOT_FOUND if error.code in ("unknown_resource", "unknown_watch") else types.INTERNAL_ERROR, message=str(error)) from error
        if resource.media_type.startswith((JSON, "text/")):
            text = types.TextResourceContents(uri=uri, mime_type=resource.media_type, text=resource.data.decode())
            return types.ReadResourceResult(contents=[text])
        blob = types.BlobResourceContents(uri=uri, mime_type=resource.media_type, blob=base64.b64encode(resource.data).decode())
        return types.ReadResourceResult(contents=[blob])

    async def _list_prompts(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        prompts = [
            types.Prompt(
                name=prompt.name,
                description=prompt.description,
                arguments=[types.PromptArgument(name=name, description=text, required=True) for name, text in prompt.arguments.items()],
            )
            for prompt in PROMPTS.values()
        ]
        return types.ListPromptsResult(prompts=prompts)

    async def _get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        try:
            text = prompt_text(params.name, params.arguments or {})
        except DeskhandError as error:
            raise MCPError(code=types.INVALID_PARAMS, message=str(error)) from error
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=PROMPTS[params.name].description, messages=[message])


def tool_of_card(card: Mapping[str, Any]) -> types.Tool:
    """A card as MCP knows tools; what it has no word for stands in ``_meta``."""
    effects = card["effects"]
    hints = types.ToolAnnotations(read_only_hint=effects == "none", destructive_hint=effects == "motion", idempotent_hint=False, open_world_hint=False)
    examples = "".join(f"\nExample: {each['situation']}: {json.dumps(each['arguments'], ensure_ascii=False)}" for each in card["examples"][:2])
    return types.Tool(
        name=card["name"],
        description=f"{card['summary']}\nWhen: {card['when_to_use']}\nLimits: {card['limits']}{examples}",
        input_schema=card["input_schema"],
        output_schema=card["output_schema"] if card["mode"] == "on_demand" else STARTED,
        annotations=hints,
        _meta={f"deskhand/{key}": card[key] for key in ("version", "group", "unit", "effects", "needs", "mode", "preconditions", "timeout", "source")},
    )


def references(data: Any) -> Iterator[Mapping[str, Any]]:
    """All references to resources in a result."""
    if isinstance(data, Mapping):
        if set(data) == {"uri", "media_type", "bytes", "text"} and str(data["uri"]).startswith(SCHEME):
            yield data
        else:
            for value in data.values():
                yield from references(value)
    elif isinstance(data, list):
        for item in data:
            yield from references(item)


def _text(data: Any) -> types.TextContent:
    return types.TextContent(text=json.dumps(data, ensure_ascii=False))


def _title(ref: Mapping[str, Any]) -> str:
    return str(ref["text"]) or str(ref["uri"]).removeprefix(SCHEME)
