"""What can be set in naming objects by their geometry; probabilities and ratios without units, lengths in metres.

What the kinds are stands in config/objects.yaml.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class KindSettings:
    """When a kind fits, and what is told of it.

    Where a field names no source, its value was chosen on rendered desks.

    Attributes:
        no_kind: how sure it is of what no kind fits that it is an ``object``.
        least_share: candidates that are less likely are not told.
        worth: a kind goes before the plain word for its shape while it is at least so many times as likely: a wrong colour alone halves how well a
            kind fits, and does not make a box of a sponge.
        shape_sure: how sure the word for a shape is: the shape is a fit to one side of the object.
        long: what is so many times as long as broad is called long, whatever its section: pens, brushes and cutlery are 6 to 15 times, bottles at
            most 4 (YCB objects: marker 121 x 18 mm, spatula 350 x 83, mustard bottle 190 x 58).
        touch: so much fingers measure wrongly: pads give way, gears have play [m].
        unusual: how likely sides are that an object may have but mostly has not.
        soft: added to the logarithm of a range .
        equal: .. and of a usual ratio: sides that are equal are so by no chance.
    """

    no_kind: float = 0.3
    least_share: float = 0.02
    worth: float = 0.25
    shape_sure: float = 0.9
    long: float = 5.0
    touch: float = 0.0015
    unusual: float = 0.4
    soft: float = 0.15
    equal: float = 0.02


KINDS = KindSettings()
