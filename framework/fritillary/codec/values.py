"""The codec of one game: its options, states, actions and observations."""

from __future__ import annotations

import typing
from collections.abc import Callable
from typing import Any

from fritillary.codec import kinds
from fritillary.codec.converter import Build, make_converter
from fritillary.codec.packing import check_plain, from_json, pack, to_json, unpack
from fritillary.codec.schema import json_schema
from fritillary.core.errors import CodecError, InvalidOptionsError
from fritillary.core.info import GameInfo


class ValueCodec:
    """Codes the values of one game.

    *Data* are plain dicts, lists, strings and numbers; *bytes* are their msgpack,
    canonical: equal values have equal bytes in every process. States and
    observations do not hold their options, which travel once; decoding takes
    them from the caller.

    Encoding trusts that a value is what its class declares and checks, at no cost
    to speak of, what other languages could not read: floats, integers of more than
    53 bits, sets and the like raise `CodecError` naming their path. A field that
    holds another plain type than declared shows when it is decoded.

    Raises:
        TypeError: when built for a class that cannot be coded; names the field.
    """

    def __init__(self, info: GameInfo) -> None:
        self.info = info
        kinds.check_class(info.options, options=info.options, immutable=True)
        kinds.check_class(info.state, options=info.options, refers=True)
        kinds.check_class(info.observation, options=info.options, refers=True)
        for cls in info.actions:
            kinds.check_class(cls, options=info.options, immutable=True)
        tags = [kinds.tag_of(cls) for cls in info.actions]
        if len(set(tags)) < len(tags):
            msg = f"action classes need different names, not {', '.join(tags)}"
            raise TypeError(msg)
        self._action_type: Any = info.actions[0]
        if len(info.actions) > 1:
            self._action_type = typing.Union[info.actions]  # noqa: UP007 - at run time
        # Alone, options are whole; inside a state they are a reference.
        converter = make_converter(info.options)
        dump = converter.get_unstructure_hook
        self._dump_options = dump(info.options)
        self._dump_state = dump(info.state)
        self._dump_action = dump(self._action_type)
        self._dump_observation = dump(info.observation)
        build: Callable[[Any], Build] = converter.get_structure_hook
        self._build_options = build(info.options)
        self._build_state = build(info.state)
        self._build_action = build(self._action_type)
        self._build_observation = build(info.observation)

    # -- options

    def options_to_data(self, options: Any) -> Any:
        """Return options as data."""
        return self._dump_options(options)

    def options_from_data(self, data: Any) -> Any:
        """Return the options of data; fields that are left out get their default.

        Raises:
            InvalidOptionsError: naming the option that is unknown, mistyped or
                out of range.
        """
        try:
            check_plain(data)
            return self._build_options(data)
        except CodecError as error:
            name = error.path[2:] or "options"
            msg = f"{self.info.id}: {name}: {error.reason}"
            raise InvalidOptionsError(msg) from error

    def encode_options(self, options: Any) -> bytes:
        """Return the canonical bytes of options."""
        return pack(self._dump_options(options))

    def decode_options(self, raw: bytes) -> Any:
        """Return the options of msgpack bytes; empty bytes mean the defaults.

        Raises:
            CodecError: if they are not msgpack.
            InvalidOptionsError: if they are not options of this game.
        """
        return self.options_from_data(unpack(raw) if raw else {})

    # -- states

    def encode_state(self, state: Any) -> bytes:
        """Return the canonical bytes of a state, without its options."""
        return pack(self._dump_state(state))

    def decode_state(self, raw: bytes, options: Any) -> Any:
        """Return the state of bytes.

        Raises:
            CodecError: naming the path of the bad field.
        """
        return self._build_state(unpack(raw), options=options)

    # -- observations

    def observation_to_data(self, observation: Any) -> Any:
        """Return an observation as data, without its options."""
        return self._dump_observation(observation)

    def encode_observation(self, observation: Any) -> bytes:
        """Return the canonical bytes of an observation, without its options."""
        return pack(self._dump_observation(observation))

    def decode_observation(self, raw: bytes, options: Any) -> Any:
        """Return the observation of bytes.

        Raises:
            CodecError: naming the path of the bad field.
        """
        return self._build_observation(unpack(raw), options=options)

    def observation_from_data(self, data: Any, options: Any) -> Any:
        """Return the observation of data.

        Raises:
            CodecError: naming the path of the bad field.
        """
        check_plain(data)
        return self._build_observation(data, options=options)

    # -- actions

    def action_to_data(self, action: Any) -> Any:
        """Return an action as data."""
        return self._dump_action(action)

    def encode_action(self, action: Any) -> bytes:
        """Return the canonical bytes of an action."""
        return pack(self._dump_action(action))

    def action_to_json(self, action: Any) -> str:
        """Return an action as JSON text."""
        return to_json(self._dump_action(action))

    def action_from_data(self, data: Any) -> Any:
        """Return the action of data: well-formed, but not yet known to the table.

        Raises:
            CodecError: naming the path of the bad field.
        """
        check_plain(data)
        return self._build_action(data)

    # -- schemas

    def schemas(self) -> dict[str, Any]:
        """Return the JSON Schemas of options, action and observation."""
        info = self.info
        return {
            "options": json_schema(info.options, title=f"{info.title} options"),
            "action": json_schema(self._action_type, title=f"{info.title} action"),
            "observation": json_schema(
                info.observation,
                title=f"{info.title} observation",
                leave_out=(kinds.OPTIONS_FIELD,),
            ),
        }


def decode_json_options(codec: ValueCodec, text: str) -> Any:
    """Return the options of a JSON text.

    Raises:
        CodecError: if it is not JSON.
        InvalidOptionsError: if it is not options of this game.
    """
    return codec.options_from_data(from_json(text))
