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
        other_shape: how well a detector's word fits what is of another shape than it says: the plain solid may be the wrong one.
        off: what is farther from its shape than these, over the noise of the depth, is less and less likely of a kind that has that shape, in the end of none:
            of 174 objects on rendered desks that are of such kinds one was off by more than 2.1, bodies of others that looked like them by 2.5 to 8.
        shapeless: what is as far off has no plain shape: the word for it is ..
        shapeless_sure: .. no surer than this.
        plain_printed: how well a kind that is mostly of one colour fits what has many.
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
    other_shape: float = 0.3
    off: tuple[float, float] = (2.1, 2.8)
    shapeless: float = 4.0
    shapeless_sure: float = 0.5
    plain_printed: float = 0.1
    touch: float = 0.0015
    unusual: float = 0.4
    soft: float = 0.15
    equal: float = 0.02


@dataclass(frozen=True)
class DetectorWordSettings:
    """How what detectors say is put onto objects, and what it counts beside the word of geometry.

    Attributes:
        least_overlap: an object and a detection that overlap less, as intersection over union of masks or boxes, are not of the same. Between what
            trackers ask of boxes in successive pictures (0.3: SORT, Bewley et al. 2016) and what counts as found in PASCAL VOC (0.5: Everingham et
            al. 2010): one of the two outlines is ours, of what is not hidden.
        least_inside: a box of which fewer of an object's pixels lie inside is not of that object; chosen on rendered desks.
        geometry: geometry's belief in kinds is discounted by it where a detector says anything: its list of kinds is not all there is.
        most: no single word is surer than this: no detector is right always, and one that says 1 would leave no doubt for others to add to.
        least_sure: a word that is less sure is none.
    """

    least_overlap: float = 0.35
    least_inside: float = 0.6
    geometry: float = 0.9
    most: float = 0.99
    least_sure: float = 0.05


@dataclass(frozen=True)
class PrintSettings:
    """How what is printed on objects is found and read.

    Attributes:
        margin: around an object's outline, as a share of its longer side, for letters at its edge.
        zoom, side: objects are enlarged so much at most, to so many pixels at most: networks of PaddleOCR read letters of 16 px and more well.
        inside: lines of which less lies on an object are not its own.
        step: sides of pictures are multiples of it [px]; height: of a line that is read [px]. Both are the networks'.
        pixel, line, grown: thresholds of the probability of a pixel and of a line, and by how much of area over perimeter lines are grown to each side;
            of PaddleOCR's configuration (0.3, 0.5, 1.6), as are ``thinnest`` [px] and ``upright``: lines so many times as high as long stand upright.
        letters: words of fewer are left out: articles, units.
        smallest: words in letters lower than this share of the largest ones are not what an object is called by.
        words: so many at most.
    """

    margin: float = 0.05
    zoom: float = 3.0
    side: float = 480.0
    inside: float = 0.6
    step: int = 32
    height: int = 48
    pixel: float = 0.3
    line: float = 0.5
    grown: float = 1.6
    thinnest: float = 3.0
    upright: float = 1.5
    letters: int = 3
    smallest: float = 0.4
    words: int = 4


@dataclass(frozen=True)
class WholeSettings:
    """What tells how likely an object is one whole one.

    Attributes:
        outside: points farther from the solid are outside of it, in standard deviations of the depth.
        step: another object goes on at the same depth where it differs by less [m].
        color: chromaticities that differ by this are alike by 1/e.
        contact: pixels along which two objects touch.
        least, most: bounds of the probability: as far as some hundred looks can tell.
    """

    outside: float = 3.0
    step: float = 0.008
    color: float = 0.05
    contact: int = 5
    least: float = 0.02
    most: float = 0.99


KINDS = KindSettings()
DETECTOR_WORDS = DetectorWordSettings()
PRINT = PrintSettings()
WHOLE = WholeSettings()
