"""The gRPC service: matches for bots that dial in, and for programs it starts."""
