"""config/llm.yaml and its loader."""

from pathlib import Path

import pytest
import yaml

from deskhand.errors import DeskhandError
from deskhand.llm import load_model, load_profile, make_model
from deskhand.llm.config import ModelProfile, profiles_file


def test_the_shipped_profiles_load_and_offline_is_the_default() -> None:
    assert load_profile().provider == "offline"
    assert load_model("").name == "offline"
    assert "anthropic" in make_model("anthropic").name
    for name in ("openai", "ollama", "vllm", "llamacpp", "small"):
        profile = load_profile(name)
        assert (profile.provider, profile.base_url.endswith("/v1")) == ("openai", True)
        assert name in make_model(profile).name


def test_no_key_is_in_the_shipped_file() -> None:
    names = yaml.safe_load(profiles_file().read_text())["profiles"]
    assert all(load_profile(name).key_env in {"", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"} for name in names)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("profiles: [", "cannot read"),
        ("profiles: 3", "mapping 'profiles'"),
        ("{}", "mapping 'profiles'"),
        ("profiles: {a: {}}", "there are: a"),
        ("profiles: {x: 7}", "must be a mapping"),
        ("profiles: {x: {provider: magic}}", "provider 'magic' is not one of offline, openai, anthropic, scripted"),
        ("profiles: {x: {api_key: abc}}", "unknown field 'api_key'"),
        ("profiles: {x: {timeout: soon}}", "timeout must be float"),
        ("profiles: {x: {retries: true}}", "retries must be int"),
        ("profiles: {x: {provider: openai, model: m}}", "needs 'model' and 'base_url'"),
        ("profiles: {x: {provider: openai, model: m, base_url: 'ftp://x'}}", "needs 'model' and 'base_url'"),
        ("profiles: {x: {provider: scripted}}", "needs 'file'"),
        ("profiles: {x: {reply: yaml}}", "reply 'yaml'"),
        ("profiles: {x: {timeout: 0}}", "timeout must be positive"),
        ("profiles: {x: {prompt: tiny}}", "prompt 'tiny' is not one of full, compact"),
        ("profiles: {x: {provider: anthropic, model: m}}", "needs 'model' and 'key_env'"),
        ("profiles: {x: {provider: anthropic, model: m, key_env: K, reply: json}}", "reply: tools"),
        ("profiles: {x: {provider: openai, model: m, base_url: 'http://me:secret@host/v1'}}", "no user, password or key"),
        ("profiles: {x: {provider: openai, model: m, base_url: 'http://host/v1?key=secret'}}", "no user, password or key"),
        ("profiles: {x: {fallback_on: timeout}}", "fallback_on must be a list of words"),
        ("profiles: {x: {fallback_on: [rain]}}", "fallback_on knows no rain; valid: no_key"),
        ("profiles: {x: {price_in: -1}}", "must not be negative"),
        ("profiles: {x: {max_cost: 1}}", "'max_cost' needs 'price_in'"),
    ],
)
def test_a_broken_profile_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "llm.yaml"
    path.write_text(text)
    with pytest.raises(DeskhandError, match=message.replace("[", r"\[")) as caught:
        load_profile("x", path)
    assert caught.value.code == "config_error"
    assert "llm.yaml" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DeskhandError, match="cannot read"):
        load_profile("x", tmp_path / "none.yaml")


def test_whole_numbers_are_fine_for_seconds(tmp_path: Path) -> None:
    path = tmp_path / "llm.yaml"
    path.write_text("default: x\nprofiles: {x: {timeout: 30}}")
    assert load_profile("", path) == ModelProfile("x", timeout=30.0)


def test_fallbacks_are_followed_and_circles_are_named(tmp_path: Path) -> None:
    path = tmp_path / "llm.yaml"
    path.write_text("profiles: {a: {fallback: b}, b: {fallback: c, fallback_on: [timeout]}, c: {}, d: {fallback: e}, e: {fallback: d}, f: {fallback: none}}")
    assert make_model("a", path).name == "offline, else offline, else offline"
    assert load_profile("b", path).fallback_on == ("timeout",)
    with pytest.raises(DeskhandError, match="in a circle: d -> e -> d"):
        make_model("d", path)
    with pytest.raises(DeskhandError, match="no model profile 'none'"):
        make_model("f", path)
