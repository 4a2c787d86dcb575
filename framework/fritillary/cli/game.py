"""``fritillary game``."""

from __future__ import annotations

import textwrap
from typing import Annotated, Any

import typer

from fritillary.app.application import Application
from fritillary.cli.games import seats_text
from fritillary.cli.output import print_json, print_text, say
from fritillary.cli.tables import print_table
from fritillary.cli.together import leave_out
from fritillary.cli.values import GameId, Json, Options, Preset, game_and_options
from fritillary.codec.packing import to_json
from fritillary.codec.schema import field_documents
from fritillary.plugins.game import Game
from fritillary.referee.lineup import local_bots


def game(
    game_id: GameId,
    actions: Annotated[
        bool, typer.Option("--actions", help="List the action table.")
    ] = False,
    schemas: Annotated[
        bool, typer.Option("--schemas", help="Print the JSON Schemas.")
    ] = False,
    option: Options = None,
    preset: Preset = "",
    as_json: Json = False,
) -> None:
    """Tell all about one game: options, bots, actions, schemas.

    Example: fritillary game lepidoptery --actions
    """
    found, options = game_and_options(Application(), game_id, option, preset)
    if schemas:
        others = {"--actions": actions, "--option": option, "--preset": preset}
        leave_out("--schemas prints the schemas of all options", others)
        print_json(found.codec.schemas())
    elif actions:
        _print_actions(found, options, as_json=as_json)
    elif as_json:
        print_json(_about(found, options))
    else:
        _print_about(found, options)


def _about(game: Game[Any, Any, Any], options: Any) -> dict[str, Any]:
    info = game.info
    return {
        "id": game.id,
        "title": info.title,
        "summary": info.summary,
        "rules_version": info.rules_version,
        "seats": [info.min_seats, info.max_seats],
        "information": info.information.value,
        "chance": info.chance,
        "constant_sum": info.constant_sum,
        "max_plies": info.max_plies,
        "options": game.codec.options_to_data(options),
        "presets": {
            name: game.codec.options_to_data(values)
            for name, values in info.presets.items()
        },
        "bots": sorted(local_bots(game)),
        "reasons": dict(info.reasons),
        "actions": len(game.table(options, info.min_seats)),
        "credits": info.credits,
    }


def _print_about(game: Game[Any, Any, Any], options: Any) -> None:
    info = game.info
    say((info.title, "bold"), f"  ({game.id}, rules {info.rules_version})")
    print_text(info.summary)
    table = game.table(options, info.min_seats)
    facts = [
        ("seats", seats_text(info)),
        ("information", info.information.value),
        ("actions", str(len(table)) if table.listed else "not listed"),
        ("most plies", str(info.max_plies)),
        ("bots", ", ".join(sorted(local_bots(game)))),
        ("credits", info.credits),
    ]
    print()
    print_table(("", ""), [fact for fact in facts if fact[1]])
    documents = field_documents(info.options)
    print()
    print_table(
        ("OPTION", "VALUE", "MEANING"),
        [
            (name, to_json(value).strip('"'), documents.get(name, ""))
            for name, value in game.codec.options_to_data(options).items()
        ],
    )
    if info.presets:
        plain = game.codec.options_to_data(info.options())
        rows = []
        for name, values in info.presets.items():
            data = game.codec.options_to_data(values)
            changed = {k: v for k, v in data.items() if v != plain[k]}
            text = ", ".join(f"{k}={to_json(v)}" for k, v in changed.items())
            rows.append((name, text or "the defaults"))
        print()
        print_table(("PRESET", "SETS"), rows)
    print()
    print_table(
        ("A MATCH ENDS", ""),
        [(word, textwrap.shorten(text, 100)) for word, text in info.reasons.items()],
    )


def _print_actions(game: Game[Any, Any, Any], options: Any, *, as_json: bool) -> None:
    table = game.table(options, game.info.min_seats)
    rows = [
        (index, game.format_action(action), game.codec.action_to_json(action))
        for index, action in enumerate(table.actions)
    ]
    if as_json:
        print_json(
            [
                {
                    "index": index,
                    "text": text,
                    "action": game.codec.action_to_data(table.actions[index]),
                }
                for index, text, _ in rows
            ]
        )
        return
    print_table(
        ("INDEX", "TEXT", "JSON"),
        [(str(index), text, data) for index, text, data in rows],
    )
