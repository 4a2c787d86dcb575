"""The match record: what it holds, how it is written, read, replayed, verified."""
