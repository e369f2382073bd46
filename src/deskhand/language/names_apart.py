"""Names that tell each other apart: where a person speaks of the bin and of the open box, and two things are called open boxes, one of them is the bin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from deskhand.language.intents import Ref
from deskhand.language.resolve import LEAST_LIKELY, Seen, head_fits, resolve


def names_apart(refs: Sequence[Ref], objects: Sequence[Seen]) -> list[Seen]:
    """The objects, those called otherwise that one of ``refs`` can only mean while others fit several.

    Only phrases that mean one thing by its kind count, such as "the bin". What no object is called is the one of those that another phrase fits equally
    for which that name is the likeliest, from :data:`LEAST_LIKELY` on: two phrases of one person seldom mean one thing.
    """
    sole = [ref for ref in dict.fromkeys(refs) if ref.definite and ref.count == 1 and (ref.kinds or ref.noun) and not (ref.id or ref.pronoun or ref.where)]
    result = list(objects)
    for ref in sole:
        if _fitting(ref, result):
            continue
        several = [item for other in sole if other is not ref and len(found := _fitting(other, result)) > 1 for item in found]
        names = [(item, name) for item in several for name in item.get("names") or () if head_fits(ref, {**item, "label": name["name"]}, "any")]
        likely = [(float(name["probability"]), str(item["id"]), str(name["name"])) for item, name in names]
        if likely and (best := max(likely))[0] >= LEAST_LIKELY:
            result = [{**item, "label": best[2]} if item["id"] == best[1] else item for item in result]
    return result


def _fitting(ref: Ref, objects: Sequence[Seen]) -> tuple[Seen, ...]:
    return resolve(replace(ref, count=0), objects, "any").objects
