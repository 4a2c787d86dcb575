"""The gRPC service: matches for bots that dial in, and for programs it starts."""

import os

# gRPC reads these when it is imported. Programs are started with fork and exec at once,
# which its handlers for fork have nothing to do with, except that they complain.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
