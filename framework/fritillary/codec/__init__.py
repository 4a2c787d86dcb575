"""attrs values to msgpack and JSON and back: canonical, strict, self-describing."""
