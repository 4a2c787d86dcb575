"""Clients of all languages play each other."""

from __future__ import annotations

import sys

import pytest
from tests.clients import languages, pairings

pytestmark = [pytest.mark.system, pytest.mark.timeout(600)]


async def test_every_pairing_of_clients_leaves_verified_records(capsys):
    for language in languages.found():
        language.make()
    players = languages.commands()
    table = await pairings.play_all(players)
    assert [each.problems for each in table.values()] == [[]] * len(players) ** 2
    assert {each.verified for each in table.values()} == {len(pairings.GAMES)}
    pairings.show(table, 1.0)
    assert f"{3 * len(table)} matches" in capsys.readouterr().out


async def test_a_bot_that_leaves_is_told_of_in_the_table(capsys):
    uniform = languages.PYTHON.uniform
    players = {"good": uniform, "rash": (*uniform, "--matches", "1")}
    table = await pairings.play_all(players, ["lepidoptery"])
    assert any(each.problems for pair, each in table.items() if "rash" in pair)
    assert not table["good", "good"].problems
    pairings.show(table, 1.0)
    assert " wrong" in capsys.readouterr().out


async def test_a_bot_that_does_not_start_is_told_with_its_last_words():
    broken = (sys.executable, "-c", "import sys; sys.exit('no board today')")
    with pytest.raises(RuntimeError, match="no board today"):
        await pairings.play_all({"broken": broken}, ["lepidoptery"])
