"""A place for pytest to begin, where there is no test of one's own.

``pytest --pyargs fritillary.testing.conformance --fritillary-game GAME`` has one
test for each law of the game. The tests come from the pytest plugin of this
distribution; this module holds none.
"""
