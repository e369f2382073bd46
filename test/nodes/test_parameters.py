"""Parameters as `ros2 param` meets them: described, bounded, and not settable where setting would change nothing."""

import contextlib
import importlib
import pkgutil
from dataclasses import fields, is_dataclass

import pytest

pytest.importorskip("rclpy")
import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter

import deskhand.nodes
from deskhand.errors import DeskhandError
from deskhand.nodes.arm_node import ArmParameters
from deskhand.nodes.parameters import declare_parameters, descriptions
from deskhand.nodes.tool_server_node import Parameters as ToolServerParameters


@pytest.fixture(scope="module")
def context():
    context = rclpy.Context()
    rclpy.init(context=context)
    yield context
    context.try_shutdown()


@contextlib.contextmanager
def declared(context, kind, **overrides):
    node = Node("parameters", context=context, parameter_overrides=[Parameter(name, value=value) for name, value in overrides.items()])
    try:
        yield node, declare_parameters(node, kind)
    finally:
        node.destroy_node()


def test_what_is_read_only_when_the_node_starts_cannot_be_set_later(context):
    with declared(context, ToolServerParameters, approval="motion") as (node, values):
        assert values.approval == "motion"
        refused = node.set_parameters([Parameter("approval", value="never")])[0]
        assert not refused.successful and "read-only" in refused.reason
        assert node.get_parameter("approval").value == "motion"


def test_what_matters_at_run_time_can_be_set(context):
    with declared(context, ArmParameters) as (node, _):
        assert node.set_parameters([Parameter("supported", value=True)])[0].successful
        assert not node.set_parameters([Parameter("supported", value="yes")])[0].successful
        assert not node.set_parameters([Parameter("port", value="/dev/other")])[0].successful


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (ToolServerParameters, {"approval": "sometimes"}),
        (ToolServerParameters, {"approval_timeout": -1.0}),
        (ToolServerParameters, {"approval_timeout": float("nan")}),
        (ToolServerParameters, {"approval_timeout": "long"}),
        (ArmParameters, {"baud": -5}),
        (ArmParameters, {"supported": 1}),
    ],
)
def test_nonsense_ends_the_start_with_the_name_of_the_parameter(context, kind, wrong):
    with pytest.raises(DeskhandError, match=next(iter(wrong))) as caught, declared(context, kind, **wrong):
        pass
    assert caught.value.code == "config_error"


def parameter_classes():
    for module in pkgutil.iter_modules(deskhand.nodes.__path__):
        if module.name.endswith("_node"):
            loaded = importlib.import_module(f"deskhand.nodes.{module.name}")
            yield from (
                kind for name, kind in vars(loaded).items() if is_dataclass(kind) and name.endswith("Parameters") and kind.__module__ == loaded.__name__
            )


@pytest.mark.parametrize("kind", list(parameter_classes()), ids=lambda kind: kind.__module__.rpartition(".")[2])
def test_every_parameter_says_what_it_is(context, kind):
    assert {field.name for field in fields(kind)} <= set(descriptions(kind)), "one line each below Attributes:"
    with declared(context, kind) as (node, values):
        for name in vars(values):
            assert node.describe_parameter(name).description
