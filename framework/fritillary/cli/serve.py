"""placeholder."""


def serve() -> None:
    """X.

    Example: x
    """
