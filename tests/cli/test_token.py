"""fritillary token."""

import json

import pytest
from tests.cli.conftest import Run


def test_a_token_is_made_listed_and_revoked(run: Run) -> None:
    code, text, note = run("token", "create", "my-bot")
    assert code == 0
    assert text.startswith("frt_bot_")
    assert "secret" in note
    rows = json.loads(run("token", "list", "--json")[1])
    assert [(row["name"], row["role"]) for row in rows] == [("my-bot", "bot")]
    assert text.strip() not in run("token", "list")[1]
    code, said, _ = run("token", "revoke", "my-bot")
    assert code == 0
    assert "revoked" in said
    assert "revoked" in run("token", "list")[1]


def test_no_tokens_yet(run: Run) -> None:
    code, out, note = run("token", "list")
    assert (code, out) == (0, "")
    assert "token create" in note


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("create", "no spaces please"), "letters"),
        (("create", "x", "--role", "king"), "referee"),
        (("revoke", "nobody"), "nobody"),
    ],
)
def test_wrong_words_are_one_clear_line(
    run: Run, words: tuple[str, ...], said: str
) -> None:
    code, out, error = run("token", *words)
    assert code == 2
    assert out == ""
    assert said in error
    assert error.count("\n") == 1
