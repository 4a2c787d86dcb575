"""Plays against one bot to find out whether it keeps the protocol.

The bot dials in at a real arena; between the two stands a relay that looks at every
message, holds some back, cuts the link and falls silent when it is told to.
"""
