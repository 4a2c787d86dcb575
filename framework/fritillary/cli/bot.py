"""placeholder."""


def bot() -> None:
    """X.

    Example: x
    """
