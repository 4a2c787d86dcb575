"""The options that say where a server is, put into commands that ask one."""

from __future__ import annotations

import inspect

import pytest
import typer
from typer.testing import CliRunner

from fritillary.cli.reach import (
    DEFAULT_ADDRESS,
    Access,
    OnlookerToken,
    at_server,
    here_or_at_server,
)
from fritillary.cli.values import Json
from fritillary.core.errors import UsageError

TOOLS = ["server", "token", "ca", "cert", "key"]


class Asked:
    """Two commands, and the access that they were given."""

    def __init__(self) -> None:
        self.access: list[Access | None] = []
        self.app = typer.Typer()

        @self.app.command()
        @at_server(OnlookerToken)
        def there(name: str = "x", *, access: Access, as_json: Json = False) -> None:
            """Ask a server."""
            assert not as_json
            self.access.append(access)

        @self.app.command()
        @here_or_at_server
        def anywhere(*, access: Access | None) -> None:
            """Ask a server if there is one."""
            self.access.append(access)

        self.functions = {"there": there, "anywhere": anywhere}

    def run(self, *words: str) -> Access | None:
        CliRunner().invoke(self.app, words, catch_exceptions=False)
        return self.access.pop()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    for name in ("ADDRESS", "TOKEN", "CA", "CERT", "KEY"):
        monkeypatch.delenv(f"FRITILLARY_{name}", raising=False)
    return Asked()


def test_a_command_has_the_options_in_place_of_its_access(asked: Asked) -> None:
    names = list(inspect.signature(asked.functions["there"]).parameters)
    assert names == ["name", *TOOLS, "as_json"]
    assert list(inspect.signature(asked.functions["anywhere"]).parameters) == TOOLS


def test_a_command_is_given_the_access_that_they_make(asked: Asked) -> None:
    found = asked.run("there", "--server", "h:1", "--token", "t", "--ca", "c.pem")
    assert isinstance(found, Access)
    assert (found.server, found.token, str(found.ca)) == ("h:1", "t", "c.pem")
    assert asked.run("there") == Access(DEFAULT_ADDRESS, "")


def test_where_a_server_is_may_be_in_the_environment(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FRITILLARY_ADDRESS", "h:2")
    monkeypatch.setenv("FRITILLARY_TOKEN", "t")
    assert asked.run("there") == Access("h:2", "t")
    # A match is played here unless a server is named.
    assert asked.run("anywhere") is None
    assert asked.run("anywhere", "--server", "h:3") == Access("h:3", "t")


@pytest.mark.parametrize("option", ["--token", "--ca", "--cert", "--key"])
def test_what_is_for_a_server_is_refused_where_none_is_named(
    asked: Asked, option: str
) -> None:
    with pytest.raises(UsageError, match="name it with --server"):
        asked.run("anywhere", option, "x")


def test_a_token_is_not_shown_with_its_access() -> None:
    assert "secret" not in repr(Access("h:1", "secret"))
