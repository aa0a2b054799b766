"""Hello: the client's version, and how hello and offers are divided for the bus."""

from collections.abc import Iterable
from typing import Any

from .codec import encode
from .errors import BusError
from .limits import MOST_PART, MOST_VALUES

VERSION = "0.1.0"
RUNTIME = f"python {VERSION}"


def missing_feature(
    urls: Iterable[dict[str, str]], features: Iterable[str], carries: bool = False
) -> BusError | None:
    """Returns why a bus with these features can't serve a module; None if it can.

    An older bus takes each star of a URL as literal, so nothing would match. It passes no
    descriptors on, so handlers would lack them.
    """
    if carries and "descriptors" not in features:
        return BusError(
            "bad-version",
            "descriptors need a bus with the feature descriptors, which this older one lacks: replace the broker",
            ran="no",
        )
    for url in urls:
        if (url["host"] == "*" or "/*" in url["path"]) and "rest-urls" not in features:
            return BusError(
                "bad-version",
                f"the URL {url['host']}{url['path']} needs a bus with the feature rest-urls, which this older one "
                "lacks: replace the broker, or map the URL without a star",
                ran="no",
            )
    return None


def count_values(value: Any) -> int:
    """Returns the number of JSON values, as the bus counts them: keys don't count."""
    if isinstance(value, dict):
        return 1 + sum(map(count_values, value.values()))
    return 1 + sum(map(count_values, value)) if isinstance(value, (list, tuple)) else 1


def divided(whole: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns hello, or an offer, in parts that the bus reads; often it is one part.

    Each part but the last has `more`.
    """
    if len(encode(whole)) <= MOST_PART and count_values(whole) <= MOST_VALUES:
        return [whole]
    first = {name: value for name, value in whole.items() if name == "settings" or not isinstance(value, (dict, list))}
    parts: list[dict[str, Any]] = [first]
    used = [256 + len(encode(first)), 16 + count_values(first)]  # with room for the lists' names

    def part(*values: Any, key: str = "") -> dict[str, Any]:
        """Returns the part that takes these values: the last one, or a new one if it is full."""
        size, count = sum(len(encode(value)) + 2 for value in [key, *values]), sum(map(count_values, values))
        if used[0] + size > MOST_PART or used[1] + count > MOST_VALUES:
            parts[-1]["more"] = True
            parts.append({})
            used[:] = [256, 16]
        used[0] += size
        used[1] += count
        return parts[-1]

    for name, value in whole.items():
        if name in first:
            continue
        if name == "interfaces":
            for interface, row in value.items():
                others = {member: said for member, said in row.items() if member != "actions"}
                opening = [interface, {**others, "add": True, "actions": {}}]
                part(*opening).setdefault(name, {})[interface] = others
                for action, described in row.get("actions", {}).items():
                    interfaces = part(described, *opening, key=action).setdefault(name, {})
                    if interface in interfaces:  # its opening was counted already
                        used[0] -= sum(len(encode(value)) + 2 for value in opening)
                        used[1] -= sum(map(count_values, opening))
                    entry = interfaces.setdefault(interface, {"add": True})
                    entry.setdefault("actions", {})[action] = described
        elif isinstance(value, dict):
            for module, names in value.items():
                for said in names:
                    part(said, module).setdefault(name, {}).setdefault(module, []).append(said)
        elif isinstance(value, list):
            for element in value:
                part(element).setdefault(name, []).append(element)
    return parts
