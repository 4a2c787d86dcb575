"""A game as messages: reference, description, schemas, table. Made once, then kept."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable
from importlib import metadata
from typing import Any

from attrs import frozen

from fritillary.api.v1 import catalog_pb2
from fritillary.api.v1 import common_pb2 as pb
from fritillary.codec.packing import pack, to_json
from fritillary.core.info import Information, VariantInfo
from fritillary.plugins.discovery import Registry
from fritillary.plugins.game import Game
from fritillary.plugins.table import ActionTable, OpenTable
from fritillary.record.events import GameRef

_KEPT = 64


def name_of(registry: Registry, game: Game[Any, Any, Any], asked_for: str = "") -> str:
    """Return the full id under which a game is reached here.

    It is the same however the game was asked for, so that a match has one name before
    and after a restart; variants stay as they were named.

    Args:
        registry: the games.
        game: the rules.
        asked_for: the full id that led to them; empty: their own.
    """
    _, *variants = (asked_for or game.id).split("+")
    here = registry.name_of(game.info.id, game.distribution)
    return "+".join([here, *variants])


def game_ref(game: Game[Any, Any, Any], name: str = "") -> pb.GameRef:
    """Return how a game is named on the wire.

    Args:
        game: the rules.
        name: the full id under which it is reached, see `name_of`; empty: its own.
    """
    return pb.GameRef(
        id=name.partition("+")[0] or game.info.id,
        rules_version=game.info.rules_version,
        variants=[variant_ref(info) for info in game.variants],
    )


def ref_of_record(ref: GameRef, game_id: str) -> pb.GameRef:
    """Return how a game is named on the wire that a record was played with.

    Args:
        ref: as the record names it.
        game_id: under which it is, or would be, reached here; without variants.
    """
    return pb.GameRef(
        id=game_id,
        rules_version=ref.rules_version,
        variants=[
            pb.VariantRef(id=one.id, version=one.version) for one in ref.variants
        ],
    )


def named_by(name: str) -> Callable[[GameRef], bool]:
    """Return what says whether a full id names a game as it was played.

    As where a match is made, the order of variants does not matter, and a distribution
    before a colon need not be told.

    Args:
        name: such as ``pig``, ``pig+hog`` or ``distribution:pig``; empty: names all.
    """
    if not name:
        return lambda _: True
    game, *variants = name.split("+")
    distribution, colon, plain = game.rpartition(":")
    wanted = {variant.rpartition(":")[2] for variant in variants}

    def names(ref: GameRef) -> bool:
        return (
            ref.id == plain
            and (not colon or ref.distribution == distribution)
            and {variant.id for variant in ref.variants} == wanted
        )

    return names


def variant_ref(info: VariantInfo) -> pb.VariantRef:
    """Return how a variant is named on the wire."""
    return pb.VariantRef(id=info.id, version=info.version)


@frozen
class Schemas:
    """The schemas of a game as JSON text, and their hash."""

    options: str
    action: str
    observation: str
    hash: bytes


@functools.lru_cache(_KEPT)
def schemas(game: Game[Any, Any, Any]) -> Schemas:
    """Return the schemas of a game."""
    found = game.codec.schemas()
    ordered = [found["options"], found["action"], found["observation"]]
    canonical = json.dumps(ordered, sort_keys=True, separators=(",", ":"))
    return Schemas(
        options=to_json(found["options"]),
        action=to_json(found["action"]),
        observation=to_json(found["observation"]),
        hash=hashlib.sha256(canonical.encode()).digest(),
    )


@functools.lru_cache(_KEPT)
def table_message(
    table: ActionTable[Any] | OpenTable[Any],
) -> pb.ActionTable | None:
    """Return size and hash of an action table; ``None`` if there is none."""
    if not table.listed:
        return None
    return pb.ActionTable(size=len(table), hash=table.digest())


@functools.lru_cache(_KEPT)
def indices(table: ActionTable[Any] | OpenTable[Any]) -> dict[int, int]:
    """Return the index of each table entry by its ``id()``.

    Rules hand out table entries, and finding one by identity costs a tenth of
    hashing its fields.
    """
    return {id(action): index for index, action in enumerate(table.actions)}


def game_info(game: Game[Any, Any, Any], name: str = "") -> catalog_pb2.GameInfo:
    """Return what a game says about itself.

    Args:
        game: the rules.
        name: as of `game_ref`.
    """
    info = game.info
    return catalog_pb2.GameInfo(
        game=game_ref(game, name),
        title=info.title,
        summary=info.summary,
        min_seats=info.min_seats,
        max_seats=info.max_seats,
        information=catalog_pb2.INFORMATION_HIDDEN
        if info.information is Information.HIDDEN
        else catalog_pb2.INFORMATION_PERFECT,
        chance=info.chance,
        constant_sum=info.constant_sum,
        max_plies=info.max_plies,
        roles=info.roles,
        reasons=info.reasons,
        bots=sorted(game.bots),
        credits=info.credits,
        distribution=game.distribution,
        distribution_version=distribution_version(game.distribution),
    )


@functools.lru_cache(_KEPT)
def distribution_version(distribution: str) -> str:
    """Return the version of an installed package; empty if there is none."""
    try:
        return metadata.version(distribution) if distribution else ""
    except metadata.PackageNotFoundError:
        return ""


def default_options(game: Game[Any, Any, Any]) -> str:
    """Return the default options as JSON text."""
    return to_json(game.codec.options_to_data(game.info.options()))


def presets(game: Game[Any, Any, Any]) -> list[catalog_pb2.Preset]:
    """Return the named options in the order of their names."""
    return [
        catalog_pb2.Preset(
            name=name, options=to_json(game.codec.options_to_data(options))
        )
        for name, options in sorted(game.info.presets.items())
    ]


def action_entries(
    game: Game[Any, Any, Any], table: ActionTable[Any], start: int, count: int
) -> list[catalog_pb2.ActionEntry]:
    """Return a page of an action table."""
    entries = []
    for index in range(start, min(start + count, len(table))):
        data = game.codec.action_to_data(table.actions[index])
        entries.append(
            catalog_pb2.ActionEntry(
                index=index,
                text=table.texts[index],
                msgpack=pack(data),
                json=to_json(data),
            )
        )
    return entries
