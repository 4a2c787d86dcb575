"""Bots that do everything right, in each language there is a client for."""

from __future__ import annotations

import asyncio
import shlex

import pytest
from tests.clients.languages import found

from fritillary import Registry
from fritillary.sparring.check import check
from fritillary.sparring.items import ITEMS
from fritillary.sparring.verdicts import Report, Verdict

#: A busy machine is no fault.
PATIENT_S = 60.0


@pytest.mark.system
@pytest.mark.timeout(300)
async def test_good_bots_of_every_kind_pass_every_item() -> None:
    players = {"built-in": "greedy"}
    for language in found():
        await asyncio.to_thread(language.make)
        players[language.name] = f"exec:{shlex.join(language.uniform)}"

    async def one(player: str) -> Report:
        registry = Registry()
        registry.load()
        return await check(
            player, registry, games=["lepidoptery"], patience_s=PATIENT_S
        )

    reports = await asyncio.gather(*map(one, players.values()))
    wrong = {
        name: [each for each in report.findings if each.verdict is not Verdict.PASSED]
        for name, report in zip(players, reports, strict=True)
    }
    assert wrong == {name: [] for name in players}
    everything = [item.id for item in ITEMS]
    assert all(report.of(Verdict.PASSED) == everything for report in reports)
