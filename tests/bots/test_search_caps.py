"""The cap on what a search keeps: nothing is added beyond it, and it goes on."""

from __future__ import annotations

import functools

import pytest
from tests.bots.boards import GAMES, ask, seated

from fritillary import FastDealer
from fritillary.bots.search import IsmctsBot
from fritillary.bots.search.infosets import InformationSets


def kept(search):
    """Count edges and nodes, without the roots."""
    waiting = list(search._roots)
    count = -len(waiting)
    while waiting:
        node = waiting.pop()
        count += 1 + len(node.edges)
        waiting += [edge.node for edge in node.edges.values() if edge.node]
        waiting += node.seen.values()
    return count


def searched(monkeypatch, game, most, iterations):
    monkeypatch.setattr(
        "fritillary.bots.search.bots.InformationSets",
        functools.partial(InformationSets, most=most),
    )
    state = game.new(FastDealer(1))
    dealer = FastDealer(2)
    while game.decision_point(state).seat is None:
        game.apply(state, game.draw_chance(state, dealer))
    seat = game.decision_point(state).seat
    question = ask(game, state)
    bot = seated(IsmctsBot(), game, state, seat)
    search = bot.searching(question, question.rng)
    for _ in range(iterations):
        search.iterate()
    return question, search


@pytest.mark.parametrize("most", [0, 1, 3, 40, 200])
@pytest.mark.parametrize("name", GAMES)
def test_nothing_is_kept_beyond_the_cap_and_the_search_goes_on(monkeypatch, name, most):
    game = GAMES[name]
    question, search = searched(monkeypatch, game, most, 60)
    assert kept(search) <= most
    found = search.found()
    assert found.iterations == 60
    assert found.best.action in question.legal
    assert searched(monkeypatch, game, most, 60)[1].found() == found


def test_a_full_tree_still_learns(monkeypatch):
    _, search = searched(monkeypatch, GAMES["kuhn-poker"], 12, 400)
    assert kept(search) == 12
    before = sum(each.visits for each in search.found().candidates)
    for _ in range(100):
        search.iterate()
    assert sum(each.visits for each in search.found().candidates) > before
    assert kept(search) == 12
