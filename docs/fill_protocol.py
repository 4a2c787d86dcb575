"""Write the generated parts of docs/protocol.md: ``python -m docs.fill_protocol``.

The messages come from the comments in proto/, the limits from the server's defaults,
and the codes from `docs/fill_codes.py`. It needs `buf`, which `make setup` brings.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from docs.fill_codes import places, table
from google.protobuf import descriptor_pb2 as pb

from fritillary.service.limits import Limits

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "protocol.md"

#: A part of the page that is generated, by its name.
PART: Final = re.compile(
    r"(<!-- generated: (\w+) -->\n).*?(<!-- end of the generated part -->\n)", re.DOTALL
)

#: Files in the order of the page, with their headings.
_FILES: Final = {
    "bot.proto": "The stream of a bot",
    "common.proto": "Values in messages",
    "catalog.proto": "The catalog",
    "match.proto": "Matches from outside",
    "simulator.proto": "The simulator",
}

_KINDS: Final = {
    number: name.removeprefix("TYPE_").lower()
    for name, number in pb.FieldDescriptorProto.Type.items()
}

# Numbers of fields in the messages of descriptor.proto: they make up the paths of
# comments.
_FILE_MESSAGE: Final = 4
_FILE_ENUM: Final = 5
_FILE_SERVICE: Final = 6
_FILE_SYNTAX: Final = 12
_MESSAGE_FIELD: Final = 2
_SERVICE_METHOD: Final = 2
_ENUM_VALUE: Final = 2


class Source:
    """One .proto file with its comments.

    Args:
        file: its descriptor, with source info.
    """

    def __init__(self, file: pb.FileDescriptorProto) -> None:
        self.file = file
        self._comments = {
            tuple(location.path): location.leading_comments
            for location in file.source_code_info.location
        }

    def comment(self, *path: int) -> str:
        """Return the comment that stands before an element; empty if there is none.

        Args:
            path: of the element, as in `SourceCodeInfo.Location.path`.
        """
        return self._comments.get(path, "")

    @property
    def about(self) -> str:
        """The comment at the head of the file."""
        return self.comment(_FILE_SYNTAX)


def sources() -> dict[str, Source]:
    """Return the .proto files of the API by name, in the order of the page.

    Raises:
        RuntimeError: what buf said, if it failed.
    """
    beside = Path(sys.executable).with_name("buf")
    buf = str(beside) if beside.exists() else shutil.which("buf") or "buf"
    done = subprocess.run(
        [buf, "build", "--as-file-descriptor-set", "--output", "-#format=binpb"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.decode())
    files = pb.FileDescriptorSet.FromString(done.stdout).file
    found = {file.name.rpartition("/")[2]: Source(file) for file in files}
    if found.keys() != _FILES.keys():
        msg = f"this page needs a place for each of {sorted(found)}"
        raise RuntimeError(msg)
    return {name: found[name] for name in _FILES}


# ---------------------------------------------------------------------- from comments


def _paragraphs(comment: str) -> list[str]:
    """Return a comment as Markdown: paragraphs in one line, lists as they are."""
    blocks = re.split(r"\n\s*\n", "\n".join(line[1:] for line in comment.splitlines()))
    found = []
    for block in blocks:
        text = block.strip("\n")
        items = re.split(r"^- ", text, flags=re.MULTILINE)
        lines = [" ".join(item.split()) for item in items]
        if len(lines) > 1:
            lead = [lines[0]] if lines[0] else []
            found += [*lead, "\n".join(f"- {line}" for line in lines[1:])]
        elif text:
            found.append(lines[0])
    return found


def _cell(comment: str) -> str:
    """Return a comment as it stands in a cell of a table."""
    return " ".join(_paragraphs(comment)).replace("|", "\\|")


def _link(type_name: str) -> str:
    name = type_name.rpartition(".")[2]
    return f"[{name}](#{name.lower()})"


def _type(field: pb.FieldDescriptorProto, entries: Mapping[str, Any]) -> str:
    """Return the type of a field in words."""
    entry = entries.get(field.type_name.rpartition(".")[2])
    if entry is not None:
        key, value = (_type(part, {}) for part in entry.field)
        return f"map of {key} to {value}"
    name = _link(field.type_name) if field.type_name else _KINDS[field.type]
    if field.label == pb.FieldDescriptorProto.LABEL_REPEATED:
        return f"list of {name}"
    return f"optional {name}" if field.proto3_optional else name


def _message(source: Source, index: int) -> Iterator[str]:
    message = source.file.message_type[index]
    entries = {each.name: each for each in message.nested_type}
    yield f"#### {message.name}"
    yield from _paragraphs(source.comment(_FILE_MESSAGE, index))
    rows = []
    chosen = set()
    for number, field in enumerate(message.field):
        meaning = _cell(source.comment(_FILE_MESSAGE, index, _MESSAGE_FIELD, number))
        if field.HasField("oneof_index") and not field.proto3_optional:
            choice = message.oneof_decl[field.oneof_index].name
            chosen.add(choice)
            meaning = f"*{choice}*: {meaning}"
        words = _type(field, entries)
        rows.append(f"| {field.number} | `{field.name}` | {words} | {meaning} |")
    if rows:
        head = "| no. | field | type | meaning |\n| --- | --- | --- | --- |\n"
        yield head + "\n".join(rows)
    for choice in sorted(chosen):
        yield f"At most one field of *{choice}* is set."


def _enum(source: Source, index: int) -> Iterator[str]:
    enum = source.file.enum_type[index]
    yield f"#### {enum.name}"
    yield from _paragraphs(source.comment(_FILE_ENUM, index))
    rows = ["| no. | value | meaning |", "| --- | --- | --- |"]
    for number, value in enumerate(enum.value):
        meaning = _cell(source.comment(_FILE_ENUM, index, _ENUM_VALUE, number))
        rows.append(f"| {value.number} | `{value.name}` | {meaning} |")
    yield "\n".join(rows)


def _service(source: Source, index: int) -> Iterator[str]:
    service = source.file.service[index]
    yield f"#### {service.name}"
    yield from _paragraphs(source.comment(_FILE_SERVICE, index))
    for number, method in enumerate(service.method):
        takes, gives = _link(method.input_type), _link(method.output_type)
        if method.client_streaming:
            takes = f"stream of {takes}"
        if method.server_streaming:
            gives = f"stream of {gives}"
        yield f"**{method.name}**: {takes} → {gives}"
        yield from _paragraphs(
            source.comment(_FILE_SERVICE, index, _SERVICE_METHOD, number)
        )


def messages() -> str:
    """Return the reference: every service, message, field and value."""
    parts: list[str] = []
    for name, source in sources().items():
        file = source.file
        parts.append(f"### {_FILES[name]}")
        parts.append(f"`proto/{file.name}`")
        for index in range(len(file.service)):
            parts += _service(source, index)
        for index in range(len(file.message_type)):
            parts += _message(source, index)
        for index in range(len(file.enum_type)):
            parts += _enum(source, index)
    return "\n\n".join(parts)


def conventions() -> str:
    """Return what holds for all messages."""
    about = _paragraphs(sources()["common.proto"].about)
    return "\n\n".join(about[2:])


# --------------------------------------------------------------------- from the server


def limits() -> str:
    """Return every limit of Welcome with the value that it has by default."""
    source = sources()["bot.proto"]
    rows = ["| field | default | meaning |", "| --- | --- | --- |"]
    announced = Limits().to_proto()
    for prefix, name, values in (
        ("", "Limits", announced),
        ("keepalive.", "Keepalive", announced.keepalive),
    ):
        names = [each.name for each in source.file.message_type]
        index = names.index(name)
        for number, field in enumerate(source.file.message_type[index].field):
            comment = source.comment(_FILE_MESSAGE, index, _MESSAGE_FIELD, number)
            if not field.type_name:
                value = f"{getattr(values, field.name):,}"
                rows.append(f"| `{prefix}{field.name}` | {value} | {_cell(comment)} |")
    return "\n".join(rows)


#: What makes each part.
PARTS: Final[dict[str, Callable[[], str]]] = {
    "conventions": conventions,
    "limits": limits,
    "places": places,
    "codes": table,
    "messages": messages,
}


def filled(text: str) -> str:
    """Return a page with its generated parts made anew."""
    return PART.sub(
        lambda match: f"{match[1]}\n{PARTS[match[2]]()}\n\n{match[3]}", text
    )


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text("utf-8")), "utf-8")
