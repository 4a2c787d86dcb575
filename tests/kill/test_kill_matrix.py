"""The kill matrix at its smallest: each moment's row and each kind of blow once."""

from __future__ import annotations

import pytest
from tests.kill.__main__ import all_undisturbed, table
from tests.kill.harness import Ran, strike
from tests.kill.lives import Forge
from tests.kill.plan import KINDS, LINE_UPS, MOMENTS, few_cases

#: One deal of each of these is enough here.
_PLAYED = (
    "lepidoptery, one bot",
    "lepidoptery, two bots",
    "butterfly-garden, forfeits",
    "lepidoptery, a program",
)


@pytest.mark.system
@pytest.mark.timeout(600)
async def test_a_match_that_is_struck_comes_to_the_end_it_would_have_had():
    async with Forge() as forge:
        known = await all_undisturbed(forge, [(name, 0) for name in _PLAYED])
        cases = few_cases(7, {key: one.counts for key, one in known.items()})
        assert {case.row for case in cases} == set(MOMENTS)
        assert {case.kind for case in cases} == set(KINDS)
        assert any(case.line_up.programs for case in cases)
        for case in cases:
            ran = await strike(forge, case, known[case.line_up.name, case.deal])
            assert not ran.failures, f"{case}: {'; '.join(ran.failures)}"


def test_the_table_counts_what_held_of_what_ran():
    line_up = LINE_UPS[0]
    counts = {(line_up.name, 0): dict.fromkeys(sum(MOMENTS.values(), ()), 1)}
    first, second, *_ = few_cases(1, counts | {(LINE_UPS[6].name, 0): {"request": 1}})
    shown = table([Ran(first, []), Ran(first, ["torn"]), Ran(second, [])])
    assert shown.splitlines()[-1].split()[-1] == "2/3"
    assert "1/2" in next(
        line for line in shown.splitlines() if line.startswith(first.row)
    )
