"""The network: planes of a view to a logit of objects and one of each affinity. The only file that imports torch when it is imported."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import torch
from torch import Tensor, nn

from deskhand.perception.learned.affinities import OFFSETS, STRIDE
from deskhand.perception.learned.inputs import PLANES, InputSettings

WIDTHS = (20, 32, 56, 96)
"""Channels at 1/2, 1/4, 1/8 and 1/16 of the size of the inputs."""


def block(before: int, after: int, stride: int = 1) -> nn.Sequential:
    """A convolution of 3 x 3 with its normalisation."""
    return nn.Sequential(nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU())


class Residual(nn.Module):
    """Two convolutions beside a short cut."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.Sequential(block(width, width), nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width))

    def forward(self, planes: Tensor) -> Tensor:
        """The same shape."""
        return torch.relu(planes + self.inner(planes))


class Network(nn.Module):
    """An encoder and a decoder with short cuts (after O. Ronneberger et al., U-Net, 2015)."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(block(len(PLANES), WIDTHS[0], STRIDE), block(WIDTHS[0], WIDTHS[0]))
        self.down = nn.ModuleList(nn.Sequential(block(before, after, 2), Residual(after)) for before, after in pairwise(WIDTHS))
        self.deep = Residual(WIDTHS[-1])
        self.narrow = nn.ModuleList(nn.Conv2d(below, here, 1) for here, below in pairwise(WIDTHS))
        self.up = nn.ModuleList(block(width, width) for width in WIDTHS[:-1])
        self.head = nn.Conv2d(WIDTHS[0], 1 + len(OFFSETS), 1)

    def forward(self, planes: Tensor) -> Tensor:
        """Logits (N, 1 + len(OFFSETS), H / STRIDE, W / STRIDE) of planes (N, len(PLANES), H, W); H and W are multiples of InputSettings.multiple."""
        levels = [self.stem(planes)]
        for down in self.down:
            levels.append(down(levels[-1]))
        result = self.deep(levels[-1])
        for number in reversed(range(len(self.up))):
            wider = nn.functional.interpolate(self.narrow[number](result), scale_factor=2.0, mode="nearest")
            result = self.up[number](levels[number] + wider)
        return self.head(result)


def count(network: nn.Module) -> int:
    """Its parameters."""
    return sum(weights.numel() for weights in network.parameters())


def export(network: Network, file: Path, told: dict[str, str]) -> None:
    """Write an ONNX file with free sizes; ``told``: metadata beside what the loader checks."""
    import onnx

    network.eval()
    side = 4 * InputSettings().multiple
    part = file.with_suffix(".part")
    torch.onnx.export(
        network,
        (torch.zeros(1, len(PLANES), side, side),),
        str(part),
        input_names=["planes"],
        output_names=["logits"],
        dynamic_axes={"planes": {2: "height", 3: "width"}, "logits": {2: "rows", 3: "columns"}},
        opset_version=17,
        dynamo=False,
    )
    model = onnx.load(str(part))
    for key, value in told.items():
        model.metadata_props.add(key=key, value=value)
    onnx.save(model, str(part))
    part.rename(file)
