"""Addresses: what is one, and what is said of what is none."""

import contextlib
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fritillary.core.address import host_and_port
from fritillary.core.errors import UsageError


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:7447", "127.0.0.1", 7447),
        ("localhost:0", "localhost", 0),
        ("arena.example.org.:1", "arena.example.org.", 1),
        ("my_host:65535", "my_host", 65_535),
        ("[::1]:80", "[::1]", 80),
        ("[fe80::1%eth0]:80", "[fe80::1%eth0]", 80),
        ("b\u00fccher.example:00080", "b\u00fccher.example", 80),
    ],
)
def test_an_address_is_taken_apart(text, host, port):
    assert host_and_port(text) == (host, port)


@pytest.mark.parametrize("text", ["80", ":80"])
def test_a_port_alone_is_an_address_where_a_host_stands_in(text):
    assert host_and_port(text, host="127.0.0.1") == ("127.0.0.1", 80)
    with pytest.raises(UsageError):
        host_and_port(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "names no port"),
        ("localhost", "names no port"),
        ("localhost:", "names no port"),
        ("[::1]", "names no port"),
        ("[::1]:", "names no port"),
        (":80", "names no host"),
        ("localhost:x", "has the port 'x', not one from 0 to 65535"),
        ("localhost:-1", "has the port '-1'"),
        ("localhost:65536", "has the port '65536'"),
        ("localhost:\u0661", "has the port '\u0661'"),
        ("::1", "an IPv6 host stands in brackets"),
        ("::1:80", "an IPv6 host stands in brackets"),
        ("::", "an IPv6 host stands in brackets"),
        ("1:2:3", "an IPv6 host stands in brackets"),
        ("x[::1]:80", "an IPv6 host stands in brackets"),
        ("[zz]:80", "has no IPv6 address in its brackets"),
        ("[]:80", "has no IPv6 address in its brackets"),
        ("[::1:80", "has no IPv6 address in its brackets"),
        ("[127.0.0.1]:80", "has no IPv6 address in its brackets"),
        ("[::1]x:80", "has no IPv6 address in its brackets"),
        ("http://localhost:80", "holds '/', which no host has"),
        ("local host:80", "holds ' ', which no host has"),
        ("localhost:80\n", r"holds '\n', which no host has"),
        ("me@there:80", "holds '@', which no host has"),
        ("a..b:80", "names no host that can be"),
        (f"{'a' * 64}:80", "names no host that can be"),
        (f"{'a.' * 127}:80", "names no host that can be"),
        ("\u00fc..\u00fc:80", "names no host that can be"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(text, why):
    with pytest.raises(UsageError) as caught:
        host_and_port(text)
    said = caught.value.message
    assert why in said
    assert said.endswith("; it must be of the form HOST:PORT")
    assert said.isprintable()
    assert caught.value.code == "usage.address"


def test_who_dials_in_needs_a_port():
    with pytest.raises(UsageError, match="from 1 to 65535"):
        host_and_port("localhost:0", least=1)


def parts(text):
    """Return host and port; what is said where it is no address."""
    with contextlib.suppress(UsageError):
        return host_and_port(text, host="127.0.0.1")
    with pytest.raises(UsageError) as caught:
        host_and_port(text, host="127.0.0.1")
    return caught.value.message


@given(st.text() | st.text("[]:.0123456789abc%\u00fc-"))
def test_any_text_is_an_address_or_one_clear_line(text):
    found = parts(text)
    if isinstance(found, str):
        assert found.isprintable()
        return
    host, port = found
    assert 0 <= port <= 65_535
    # The system can be asked about it.
    if host.startswith("["):
        socket.inet_pton(socket.AF_INET6, host[1:-1].partition("%")[0])
    else:
        host.encode("idna")
