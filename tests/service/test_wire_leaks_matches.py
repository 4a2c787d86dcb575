"""What one match hides does not show in the others that a bot plays on its stream."""

from __future__ import annotations

import pytest
from tests.service import hush
from tests.service.leakgate import WireLeakError
from tests.service.leakmany import check_many
from tests.service.leakmanyfaults import MIXED_UP
from tests.service.leakmutants import watch_truth
from tests.service.worlds import Rules

RULES = Rules(hush.plugin(), plies=30)


@pytest.mark.parametrize("shared", ["nothing", "all"])
@pytest.mark.parametrize("restarts", [False, True])
async def test_matches_of_one_stream_tell_nothing_of_each_other(
    restarts, shared, tmp_path
):
    report = await check_many(
        RULES, shared=shared, folder=tmp_path if restarts else None
    )
    assert report.different == report.pairs == 2
    assert report.secrets
    assert report.kinds >= {
        "event.action",
        "event.chance",
        "ruling.own.FAULT_MALFORMED",
        "ruling.other.FAULT_MALFORMED",
        "error.match.unknown",
        "match_ended",
    }
    assert ("goodbye.server.stopping" in report.kinds) == restarts


@pytest.mark.parametrize("name", MIXED_UP)
async def test_a_server_that_mixes_them_up_is_caught(name, monkeypatch, tmp_path):
    change, where, restarts = MIXED_UP[name]
    watch_truth(monkeypatch)
    change(monkeypatch)
    with pytest.raises(WireLeakError, match=where):
        await check_many(RULES, folder=tmp_path if restarts else None)
