"""config/llm.yaml and its loader."""

from pathlib import Path

import pytest

from deskhand.agent.models import load_model, load_profile, make_model
from deskhand.agent.models.config import ModelProfile
from deskhand.errors import DeskhandError


def test_the_shipped_profiles_load_and_offline_is_the_default() -> None:
    assert load_profile().provider == "offline"
    assert load_model("").name == "offline"
    for name in ("openai", "ollama", "vllm", "llamacpp"):
        profile = load_profile(name)
        assert (profile.provider, profile.base_url.endswith("/v1")) == ("openai", True)
        assert name in make_model(profile).name


def test_no_key_is_in_the_shipped_file() -> None:
    assert all(load_profile(name).key_env in {"", "OPENAI_API_KEY"} for name in ("openai", "ollama", "vllm", "llamacpp"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("profiles: [", "cannot read"),
        ("profiles: 3", "mapping 'profiles'"),
        ("{}", "mapping 'profiles'"),
        ("profiles: {a: {}}", "there are: a"),
        ("profiles: {x: 7}", "must be a mapping"),
        ("profiles: {x: {provider: magic}}", "provider 'magic' is not one of offline, openai, scripted"),
        ("profiles: {x: {api_key: abc}}", "unknown field 'api_key'"),
        ("profiles: {x: {timeout: soon}}", "timeout must be float"),
        ("profiles: {x: {retries: true}}", "retries must be int"),
        ("profiles: {x: {provider: openai, model: m}}", "needs 'model' and 'base_url'"),
        ("profiles: {x: {provider: openai, model: m, base_url: 'ftp://x'}}", "needs 'model' and 'base_url'"),
        ("profiles: {x: {provider: scripted}}", "needs 'file'"),
        ("profiles: {x: {reply: yaml}}", "reply 'yaml'"),
        ("profiles: {x: {timeout: 0}}", "timeout must be positive"),
    ],
)
def test_a_broken_profile_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "llm.yaml"
    path.write_text(text)
    with pytest.raises(DeskhandError, match=message.replace("[", r"\[")) as caught:
        load_profile("x", path)
    assert caught.value.code == "config_error"
    assert "llm.yaml" in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DeskhandError, match="cannot read"):
        load_profile("x", tmp_path / "none.yaml")


def test_whole_numbers_are_fine_for_seconds(tmp_path: Path) -> None:
    path = tmp_path / "llm.yaml"
    path.write_text("default: x\nprofiles: {x: {timeout: 30}}")
    assert load_profile("", path) == ModelProfile("x", timeout=30.0)
