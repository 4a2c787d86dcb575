"""The referee of one match: ask, time, check, rule, record."""
