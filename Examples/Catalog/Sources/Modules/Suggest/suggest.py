#!/usr/bin/env python3
"""Suggest: names of packages that are like a mistyped one. The app's module in Python."""

import asyncio
import dataclasses
import difflib
import pathlib
import sys
from typing import Annotated

# In a project of its own, `strata_bus` would be installed, or its one file copied beside this one.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[5] / "clients" / "python"))

import strata_bus  # noqa: E402
from storage import Changed, Part, Storage  # noqa: E402  # written by scripts/catalog-contracts

module = strata_bus.Module("Suggest")
module.interface("Suggest", version="1.0", doc="Finds names of packages that are like a mistyped one.")
module.requires(Storage)
module.reports("Log", "log.line")
module.url("suggest", "/:name", to="Suggest/names")


@dataclasses.dataclass
class SuggestSettings:
    """What the manifest may set of Suggest."""

    likeness: Annotated[float, strata_bus.Range(0, 1)] = strata_bus.Setting("suggest.likeness", default=0.6)
    """How like a suggested name is at least: 1 is the same."""


class KnownNames:
    """The names of all packages, read when they are first needed, and what was answered since."""

    MOST_ANSWERS = 1_000

    def __init__(self) -> None:
        self._names: list[str] | None = None
        self._changes = 0
        self.answers: dict[tuple[str, int, float], list[str]] = {}
        """By the wanted name, how many were wanted, and the likeness. Those who send the name as their request's key
        get the replica that has the answer. A call that began before a change adds to the former answers."""

    def forget(self) -> None:
        """The next call reads them again. A call that reads them now uses what it gets."""
        self._names = None
        self._changes += 1
        self.answers = {}

    async def all(self) -> list[str]:
        """Storage's stream gives no batch before the last one is taken in."""
        if self._names is not None:
            return self._names
        names: list[str] = []
        changes = self._changes
        async for batch in storage.dump(credit=1):
            names += [package.name for package in batch.packages]
        if changes == self._changes:
            self._names = names
            module.background(log(f"read the names of {len(names)} packages"), "a line for Log")
        return names


settings = module.settings(SuggestSettings)
known = KnownNames()
storage = Storage(module)


async def log(text: str) -> None:
    """Reports a line to Log; where that isn't there, it goes to this module's output."""
    try:
        await module.report("log.line", {"text": text}, to="Log")
    except strata_bus.BusError as error:
        print(f"{text} (not logged: {error})")


@dataclasses.dataclass
class Wanted:
    """Which names are wanted."""

    name: Annotated[str, strata_bus.Length(1, 100)]
    """Perhaps mistyped."""
    limit: Annotated[int, strata_bus.Range(1, 50)] = 5
    """At most as many."""


@dataclasses.dataclass
class Found:
    """The names that were found."""

    names: list[str]
    """The likest first."""


@module.action("Suggest/names")
async def suggest(params: Wanted) -> Found:
    """The names of packages that are like the given one."""
    answers = known.answers
    likeness = settings.value.likeness
    question = (params.name.lower(), params.limit, likeness)
    if question not in answers:
        names = await known.all()
        # The comparison takes long, so it runs on another thread. Replicas use further CPUs.
        alike = await asyncio.to_thread(difflib.get_close_matches, question[0], names, params.limit, likeness)
        if len(answers) >= known.MOST_ANSWERS:
            answers.clear()
        answers[question] = list(alike)
    return Found(answers[question])


@module.observe("storage.changed")
def changed(content: Changed) -> None:
    """An import has put or removed packages; notes don't matter here. Each replica has names of its own, so the
    observation isn't shared."""
    if content.part is Part.PACKAGES:
        known.forget()


@module.settings_changed
def set_anew(new: SuggestSettings) -> None:
    """Each call asks for the likeness."""


@module.event("app.memoryPressure")
def pressed(call: strata_bus.Call) -> None:
    """The names can be read again."""
    known.forget()


if __name__ == "__main__":
    module.main()
