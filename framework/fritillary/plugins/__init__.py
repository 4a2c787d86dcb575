"""Hooks, their binding into a `Game`, and the discovery of plugins."""
