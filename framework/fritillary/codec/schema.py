"""JSON Schemas (draft 2020-12) of attrs classes, with their documentation."""

from __future__ import annotations

import inspect
import re
from typing import Any, Final

import attrs

from fritillary.codec import kinds
from fritillary.codec.converter import make_converter
from fritillary.core.limits import MAX_INT

_ENTRY: Final = re.compile(r"(\w+)(?:\s*\([^)]*\))?:\s*(.*)\Z")


def json_schema(
    annotation: Any, *, title: str = "", leave_out: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return the schema of what the codec writes for an annotation.

    Fields with a default may be left out of data that are sent in; what the codec
    writes always has them.

    Args:
        annotation: a type that the codec allows.
        title: the schema's title.
        leave_out: fields of the outermost class that are not in the bytes.
    """
    builder = _Builder()
    schema = builder.schema(annotation, leave_out)
    head: dict[str, Any] = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    if title:
        head["title"] = title
    if builder.definitions:
        schema = {**schema, "$defs": builder.definitions}
    return {**head, **schema}


class _Builder:
    """Collects the definitions of the classes that a schema refers to."""

    def __init__(self) -> None:
        self.definitions: dict[str, Any] = {}
        self._names: dict[tuple[type, bool], str] = {}
        self._converter = make_converter()

    def schema(
        self, annotation: Any, leave_out: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        """Return the schema of an annotation."""
        match kinds.kind_of(annotation):
            case kinds.Primitive(type=primitive):
                if primitive is int:
                    return {"type": "integer", "minimum": -MAX_INT, "maximum": MAX_INT}
                return {"type": "boolean" if primitive is bool else "string"}
            case kinds.PackedInt(packed=packed):
                what = "distinct integers" if packed.bits == 1 else "integers"
                return {
                    "type": "array",
                    "items": {
                        "type": "integer",
                        "minimum": packed.lowest,
                        "maximum": packed.lowest + packed.items - 1,
                    },
                    "uniqueItems": packed.bits == 1,
                    "description": f"{what} in rising order",
                }
            case kinds.Enumeration(type=cls):
                return _enumeration(cls)
            case kinds.Items(item=item):
                return {"type": "array", "items": self.schema(item)}
            case kinds.FixedTuple(items=items):
                return {
                    "type": "array",
                    "prefixItems": [self.schema(item) for item in items],
                    "minItems": len(items),
                    "maxItems": len(items),
                }
            case kinds.Mapped(value=value):
                return {"type": "object", "additionalProperties": self.schema(value)}
            case kinds.Nullable(inner=inner):
                return {"anyOf": [self.schema(inner), {"type": "null"}]}
            case kinds.Union(members=members):
                return {
                    "oneOf": [self._record(cls, (), tagged=True) for cls in members]
                }
            case kinds.Record(type=cls):  # pragma: no branch - nothing else is left
                return self._record(cls, leave_out, tagged=False)

    def _record(
        self, cls: type, leave_out: tuple[str, ...], *, tagged: bool
    ) -> dict[str, Any]:
        name = self._names.get((cls, tagged))
        if name is None:
            name = self._names[cls, tagged] = self._new_name(cls, tagged=tagged)
            properties: dict[str, Any] = {}
            required = []
            if tagged:
                properties[kinds.TAG] = {"const": kinds.tag_of(cls)}
                required.append(kinds.TAG)
            documents = field_documents(cls)
            attributes = attrs.fields_dict(cls)
            for field, annotation in kinds.fields_of(cls):
                if field in leave_out:
                    continue
                default = attributes[field].default
                properties[field] = self._field(annotation, documents.get(field))
                if default is attrs.NOTHING:
                    required.append(field)
                elif not isinstance(default, attrs.Factory):  # type: ignore[arg-type]
                    value = self._converter.unstructure(default, annotation)
                    properties[field]["default"] = value
            self.definitions[name] = {
                "type": "object",
                "description": _summary(cls),
                "properties": properties,
                "required": required,
                "additionalProperties": False,
            }
        return {"$ref": f"#/$defs/{name}"}

    def _field(self, annotation: Any, document: str | None) -> dict[str, Any]:
        schema = self.schema(annotation)
        if document is None:
            return schema
        # What a packed integer says of its list is kept besides.
        kept = schema.get("description") if schema.get("type") == "array" else None
        return {**schema, "description": f"{document} ({kept})" if kept else document}

    def _new_name(self, cls: type, *, tagged: bool) -> str:
        tag = kinds.tag_of(cls)
        name = f"{tag}-tagged" if tagged else tag
        taken = set(self._names.values())
        number = 1
        while (found := name if number == 1 else f"{name}-{number}") in taken:
            number += 1
        return found


def _enumeration(cls: type) -> dict[str, Any]:
    values = [member.value for member in cls]  # type: ignore[attr-defined]
    schema: dict[str, Any] = {"enum": values}
    summary = _summary(cls)
    return {**schema, "description": summary} if summary else schema


def _summary(cls: type) -> str:
    # Not getdoc(), which would give the documentation of enum.Enum itself.
    document = inspect.cleandoc(vars(cls).get("__doc__") or "")
    return document.partition("\n\n")[0].replace("\n", " ")


def field_documents(cls: type) -> dict[str, str]:
    """Return what the docstrings of a class and its bases say of each field.

    Reads the ``Args:`` or ``Attributes:`` section in Google style.
    """
    documents: dict[str, str] = {}
    for owner in reversed(cls.__mro__):
        documents |= _documents(vars(owner).get("__doc__") or "")
    return documents


def _documents(docstring: str) -> dict[str, str]:
    documents: dict[str, str] = {}
    current = ""
    inside = False
    for line in inspect.cleandoc(docstring).splitlines():
        if line.strip() in {"Args:", "Attributes:"}:
            inside = True
        elif inside and line and not line.startswith(" "):
            inside = False
        elif inside and line.strip():
            entry = None if line.startswith("     ") else _ENTRY.match(line.strip())
            if entry:
                current = entry[1]
                documents[current] = entry[2]
            elif current:
                documents[current] = f"{documents[current]} {line.strip()}".strip()
    return documents
