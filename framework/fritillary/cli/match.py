"""placeholder."""


def match() -> None:
    """X.

    Example: x
    """
