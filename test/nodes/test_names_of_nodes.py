"""rclpy keeps its own state in attributes of Node; a node of ours that uses one of those names breaks in odd places."""

import ast
from pathlib import Path

import pytest
import rclpy
from rclpy.context import Context

NODES = sorted((Path(__file__).parents[2] / "src/deskhand/nodes").glob("*.py"))


@pytest.fixture(scope="module")
def names_of_rclpy():
    context = Context()
    rclpy.init(context=context, domain_id=92)
    node = rclpy.create_node("plain", context=context)
    names = set(dir(node))
    node.destroy_node()
    rclpy.shutdown(context=context)
    return names


def assigned(cls):
    """Names that a class sets on ``self`` or defines as private methods."""
    for node in ast.walk(cls):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name) and node.value.id == "self":
            yield node.attr
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("_") and not node.name.startswith("__"):
            yield node.name


@pytest.mark.parametrize("path", NODES, ids=lambda path: path.stem)
def test_no_node_shadows_an_attribute_of_rclpy(path, names_of_rclpy):
    classes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ClassDef)]
    nodes = [cls for cls in classes if any(ast.unparse(base) in ("Node", "DeskhandNode") for base in cls.bases)]
    assert [f"{cls.name}.{name}" for cls in nodes for name in assigned(cls) if name in names_of_rclpy] == []
