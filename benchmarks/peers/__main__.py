"""``make bench-peers``: install what this project is measured against."""

import sys

from benchmarks.peers import PeerError, install, pinned


def main() -> int:
    missing = 0
    for peer, wanted in pinned().items():
        try:
            install(peer)
        except PeerError as error:
            missing += 1
            print(f"{peer}: left out; {error}")
        else:
            print(f"{peer}: {' '.join(wanted)}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
