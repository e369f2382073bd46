"""``deskhand doctor`` shows the safety settings in force, and the file that they stand in."""

from deskhand.bringup.doctor.safety import check_safety
from deskhand.types.resources import resource_path


def test_what_is_in_force_is_told_with_its_file():
    check = check_safety()
    assert check.ok and str(resource_path("config/safety.yaml")) in check.detail
    for text in ("approval never", "other than the operator's task: motion", "workspace", "keep-out zones", "m/s", "rules:"):
        assert text in check.detail


def test_a_file_of_ones_own_and_its_rules_are_told(tmp_path):
    file = tmp_path / "safety.yaml"
    text = resource_path("config/safety.yaml").read_text()
    lines = [line for line in text.splitlines() if not line.startswith(("approval:", "rules:"))]
    file.write_text("\n".join([*lines, "approval: always", 'rules: ["never put a cup into the bin"]']))
    check = check_safety(file)
    assert check.ok, check.detail
    assert "approval always" in check.detail and "'never put a cup into the bin'" in check.detail and str(file) in check.detail


def test_nonsense_fails_with_file_and_field(tmp_path):
    file = tmp_path / "safety.yaml"
    file.write_text(resource_path("config/safety.yaml").read_text().replace("approval: never", "approval: sometimes"))
    check = check_safety(file)
    assert not check.ok and "approval" in check.detail and str(file) in check.detail
