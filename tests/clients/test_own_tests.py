"""The tests that the clients in other languages bring along."""

from __future__ import annotations

import os

import pytest
from tests.clients import languages

WITH_TESTS = [each for each in languages.found() if each.test]


@pytest.mark.system
@pytest.mark.timeout(600)
@pytest.mark.parametrize("language", WITH_TESTS, ids=lambda one: one.name)
def test_the_tests_of_a_client_pass(language):
    language.make(*language.test)


def test_a_missing_tool_is_named_with_the_mend(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    monkeypatch.delenv("CI", raising=False)
    assert languages.found() == (languages.PYTHON,)
    go, typescript = languages.left_out()
    assert go == (
        "the go client is left out, since there is no go 1.22: install Go 1.22 or newer"
    )
    assert typescript == (
        "the typescript client is left out, since there is no node 20 and no npm: "
        "install Node.js 20 or newer with npm"
    )


def test_in_ci_a_missing_tool_fails(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    monkeypatch.setenv("CI", "1")
    with pytest.raises(RuntimeError, match="the go client is left out"):
        languages.found()


def test_what_a_command_printed_is_told_when_it_fails():
    with pytest.raises(RuntimeError, match="not today"):
        languages.PYTHON.make(("sh", "-c", "echo not today; exit 3"))


@pytest.mark.parametrize(
    ("said", "there"),
    [
        ("go version go1.22 linux/amd64", True),
        ("go version go1.26.8 linux/amd64", True),
        ("go version go1.19.8 linux/amd64", False),
        ("who knows", False),
    ],
)
def test_a_tool_that_is_too_old_is_missing(tmp_path, monkeypatch, said, there):
    program = tmp_path / "go"
    program.write_text(f"#!/bin/sh\necho {said}\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    assert (languages.GO.missing() == ()) is there
