"""Versions of contracts: `2.1`."""

import re

_VERSION = re.compile(r"(0|[1-9][0-9]{0,4})\.(0|[1-9][0-9]{0,4})")
MOST_VERSION = 65_535
"""The greatest number in a version."""


def version_numbers(text: str) -> tuple[int, int] | None:
    """Returns the two numbers of a version such as `2.1`; None if it is none."""
    match = _VERSION.fullmatch(text)
    if match is None:
        return None
    major, minor = int(match[1]), int(match[2])
    return (major, minor) if max(major, minor) <= MOST_VERSION else None


def checked_version(text: str) -> str:
    """Returns the version. Raises ValueError if it is none."""
    if version_numbers(text) is None:
        raise ValueError(f"{text!r} is no version: write major.minor, each 0 to {MOST_VERSION}, as in 2.1")
    return text
