"""House rules for Lepidoptery: each is a plugin that wraps hooks of the game."""
