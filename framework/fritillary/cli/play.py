"""placeholder."""


def play() -> None:
    """X.

    Example: x
    """
