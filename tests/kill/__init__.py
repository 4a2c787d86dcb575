"""The kill matrix: what running matches survive, moment by moment."""
