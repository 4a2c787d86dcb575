"""The same match has the same content hash in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PROGRAM = """
from tests.referee import race
from tests.referee.support import *
from fritillary import UniformBot
from fritillary.record.terms import PlayerInfo
from fritillary.referee.player import LocalPlayer
from fritillary.referee.match import Match

bot = LocalPlayer(UniformBot(), PlayerInfo("uniform"))
players = [Scripted({2: ILLEGAL}, nonce=b"one"), bot, Scripted(nonce=b"two")]
game = played(players, options=race.Options(wind=True), nonces_wanted=True)
print(game.result.content_hash.hex(), game.result.final_hash.hex())
"""


@pytest.mark.system
def test_the_hash_seed_of_the_process_makes_no_difference():
    hashes = set()
    for hash_seed in ("0", "1", "4242"):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)},
        )
        hashes.add(done.stdout)
    assert len(hashes) == 1
    content, final = hashes.pop().split()
    assert len(content) == len(final) == 64
