"""What is here is about the compiled build alone; `make test-compiled` says so."""

import os

# Elsewhere nothing of it is collected, rather than skipped.
collect_ignore_glob = [] if os.environ.get("FRITILLARY_BUILD") == "compiled" else ["*"]
