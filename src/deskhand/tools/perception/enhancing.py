"""Pictures made easier to read. Pure: everything comes by reference."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from deskhand.etp.resources import IMAGE, ResourceRef
from deskhand.etp.tool import ToolContext, tool
from deskhand.perception.enhance import FILTERS
from deskhand.tools.pictures import PictureUri, stored_picture


class Enhanced(TypedDict):
    """The picture after all filters."""

    picture: ResourceRef
    brightness: Annotated[list[float], Field(description="mean lightness before and after, 0 to 255")]
    contrast: Annotated[list[float], Field(description="standard deviation of the lightness before and after, 0 to 255")]


@tool(
    group="perception",
    unit="image_quality",
    timeout=30.0,
    when_to_use="To brighten, sharpen, denoise or even out a stored picture that is dark, flat, grainy or tinted, before somebody or another tool reads it.",
    limits="Changes how a picture looks; nothing is added that the camera did not see. squeeze takes detail away on purpose, to undo tampering with pixels.",
    examples=[
        ("Make a dark picture readable", {"picture": "deskhand://c", "filters": ["denoise", "exposure", "clahe"]}),
        ("Undo small malicious changes of pixels before a model sees the picture", {"picture": "deskhand://c", "filters": ["squeeze"]}),
    ],
    failures=[("The picture is no longer kept", {"picture": "deskhand://gone", "filters": ["clahe"]}, "unknown_resource")],
)
def enhance_picture(
    ctx: ToolContext,
    picture: PictureUri,
    filters: Annotated[
        list[Literal["clahe", "exposure", "denoise", "sharpen", "white_balance", "squeeze"]],
        Field(
            min_length=1,
            max_length=6,
            description="in this order: clahe local contrast, exposure overall light, denoise grain, sharpen edges, white_balance tint, squeeze fewer levels",
        ),
    ],
    strength: Annotated[float, Field(ge=0, le=1, description="share of the full effect of each, 0 to 1")] = 0.7,
) -> Enhanced:
    """Enhance a stored picture by filters: contrast (CLAHE), exposure, noise, sharpness, white balance, feature squeezing."""
    image = stored_picture(ctx.resources, picture)
    result = image
    for name in filters:
        result = FILTERS[name](result, strength)
    ref = ctx.resources.put(result, IMAGE, f"enhanced by {', '.join(filters)}")
    light = [one.mean(axis=-1) for one in (image, result)]
    return Enhanced(picture=ref, brightness=[round(float(one.mean()), 2) for one in light], contrast=[round(float(one.std()), 2) for one in light])
