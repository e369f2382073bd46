"""Errors as a person reads them: nothing that stands in them is taken for markup of the terminal."""

import pytest

from deskhand.commands import cli
from deskhand.errors import DeskhandError


@pytest.mark.parametrize("text", ["size must be three numbers, got [0.1, 0.2].", "no node named [/bold] lives", "[red]", "a [link=x]b[/link]"])
def test_an_error_is_printed_as_it_is(monkeypatch, capsys, text):
    def fail():
        raise DeskhandError("config_error", text, hint="see [brackets]")

    monkeypatch.setattr(cli, "app", fail)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 1
    shown = " ".join(capsys.readouterr().err.split())
    assert text in shown and "see [brackets]" in shown
