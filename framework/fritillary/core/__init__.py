"""Values and contract of a game: pure, no I/O, no clock, no global randomness."""
