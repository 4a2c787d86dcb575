"""``python -m fritillary``."""

from fritillary.cli.main import main

main()
