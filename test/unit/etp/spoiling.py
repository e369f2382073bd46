"""Makes invalid calls from the schemas of tools: one object wrong, anywhere in the arguments."""

from __future__ import annotations

import copy
import string

NAN, INF = float("nan"), float("inf")
OF_KIND = {"string": "12", "number": 1.5, "integer": 3, "boolean": True, "array": [[]], "object": {"odd": {}}, "null": None}
NOT_JSON = [NAN, INF, -INF, 10**40, -(10**300), b"bytes", {1}, object(), {1: 2}, 1 + 2j]


def resolved(schema, root):
    """The alternatives of a schema, references followed."""
    if "$ref" in schema:
        return resolved(root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root)
    if "anyOf" in schema:
        return [each for option in schema["anyOf"] for each in resolved(option, root)]
    return [schema]


def places(schema, value, root, path=()):
    """Every (path, alternatives) of a value that fits a schema."""
    options = resolved(schema, root)
    if path:
        yield path, options
    for option in options:
        if isinstance(value, dict) and "properties" in option:
            for key, item in value.items():
                if key in option["properties"]:
                    yield from places(option["properties"][key], item, root, (*path, key))
        elif isinstance(value, list) and isinstance(option.get("items"), dict):
            for index, item in enumerate(value):
                yield from places(option["items"], item, root, (*path, index))


def wrong_values(options):
    """Values that no alternative takes."""
    if any("type" not in option and "enum" not in option and "const" not in option for option in options):
        return list(NOT_JSON)
    kinds = {kind for option in options for kind in ([option["type"]] if isinstance(option.get("type"), str) else option.get("type", ["string"]))}
    taken = kinds | ({"integer"} if "number" in kinds else set())
    wrong = [value for kind, value in OF_KIND.items() if kind not in taken and not (kind == "object" and "object" in kinds)]
    for option in options:
        wrong += [option["minimum"] - 1e-3 * (option["type"] == "number") - (option["type"] == "integer")] if "minimum" in option and len(options) == 1 else []
        wrong += [option["maximum"] + 1] if "maximum" in option and len(options) == 1 else []
        wrong += [option["exclusiveMinimum"]] if "exclusiveMinimum" in option and len(options) == 1 else []
        wrong += ["x" * (option["maxLength"] + 1)] if "maxLength" in option else []
        wrong += [""] if option.get("minLength", 0) > 0 and len(options) == 1 else []
        wrong += [[]] if option.get("minItems", 0) > 0 else []
        wrong += ["no such choice!"] if "enum" in option and len(options) == 1 else []
    return wrong + NOT_JSON


def put(arguments, path, value):
    """Arguments with another value at a path."""
    target = arguments
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value


def spoiled(schema, arguments, random_):
    """Arguments with one object wrong, and the argument that an error must name."""
    arguments = copy.deepcopy(arguments)
    found = list(places(schema, arguments, schema))
    choice = random_.random()
    if choice < 0.12 and schema.get("required"):
        name = random_.choice(schema["required"])
        del arguments[name]
        return arguments, name
    if choice < 0.25 or not found:
        name = "".join(random_.choices(string.ascii_lowercase, k=8)) if random_.random() < 0.9 else "x" * 300_000
        arguments[name] = random_.choice([1, None, "x", {}])
        return arguments, name[:30]
    path, options = random_.choice(found)
    if choice < 0.275:
        value = []
        for _ in range(random_.choice([20, 2000])):
            value = random_.choice([[value], {"a": value}])
    elif choice < 0.28:
        value = random_.choice([["long"] * 30_000, "x" * 300_000, dict.fromkeys(map(str, range(30_000)))])
    else:
        value = random_.choice(wrong_values(options))
    put(arguments, path, value)
    return arguments, path[0]
