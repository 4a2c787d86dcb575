"""The contract that the clients of all languages keep, against the real server."""
