"""docs/simulator.md: its conversation works, its tables are those of the code."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from pathlib import Path

import pytest
from tests.service.simcalls import decision

from fritillary.api.v1 import simulator_pb2 as pb
from fritillary.cli import simulate
from fritillary.codec.packing import to_json
from fritillary.service.simulator import SimulatorServer
from fritillary.service.simulator_limits import SimulatorLimits

PAGE = Path(__file__).parents[2] / "docs" / "simulator.md"


def text():
    return PAGE.read_text("utf-8")


def test_every_call_is_on_the_page():
    service = pb.DESCRIPTOR.services_by_name["SimulatorService"]
    _, _, rest = text().partition("## The calls\n")
    rows = re.findall(r"^\| `(\w+)` \|", rest.partition("\n## ")[0], re.MULTILINE)
    assert rows == [method.name for method in service.methods]


def test_every_limit_is_on_the_page_with_its_default():
    _, _, rest = text().partition("<!-- limits -->\n")
    rows = re.findall(r"^\| `(\w+)` \| ([\d,]+) \| `[a-z.-]+` \|$", rest, re.MULTILINE)
    announced = SimulatorLimits().to_proto()
    names = [field.name for field in pb.SimulatorLimits.DESCRIPTOR.fields]
    names.remove("workers")  # depends on the machine
    assert rows == [(name, f"{getattr(announced, name):,}") for name in names]
    gib = SimulatorLimits().memory_bytes // 1024**3
    assert f"more than {gib} GiB of memory" in text()


def test_the_address_on_the_page_is_the_default():
    found = set(re.findall(r"127\.0\.0\.1:\d+", text()))
    assert found == {simulate.DEFAULT_ADDRESS}


@pytest.mark.system
async def test_the_conversation_takes_place(tmp_path):
    one = decision("lepidoptery", 2)
    assert one.seat == 0
    seen = one.game.codec.observation_to_data(one.game.seen(one.state, one.seat))
    (tmp_path / "observation.json").write_text(to_json(seen))
    script = "\n".join(
        re.findall(r"^```sh\n(.*?)^```$", text(), re.MULTILINE | re.DOTALL)
    )
    beside = Path(sys.executable).parent
    async with SimulatorServer(limits=SimulatorLimits(workers=1)) as server:
        script = script.replace(simulate.DEFAULT_ADDRESS, server.address)
        process = await asyncio.create_subprocess_exec(
            "bash",
            "-euo",
            "pipefail",
            "-c",
            script,
            cwd=tmp_path,
            env={**os.environ, "PATH": f"{beside}{os.pathsep}{os.environ['PATH']}"},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    decoder, said, rest = json.JSONDecoder(), [], out.decode().strip()
    while rest:
        value, end = decoder.raw_decode(rest)
        said.append(value)
        rest = rest[end:].strip()
    positions, seen, totals = said
    first, second = positions["positions"]
    assert first == second
    assert len(seen["observations"]) == 1
    assert totals["complete"]
    assert totals["totals"][0]["playouts"] == 200
