"""A module as a process: arguments, signals, the lifeline, the exit code."""

import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from .errors import BusError
from .log import LogHandler, logger

if TYPE_CHECKING:
    from .module import Module


def run_process(module: "Module", arguments: Sequence[str] | None) -> NoReturn:
    """Runs the module as this process; see `Module.main`."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    module.name = os.environ.get("STRATA_MODULE") or module.name
    try:
        module._prepare()
    except (TypeError, ValueError) as error:
        print(f"{module.name}: {error}", file=sys.stderr)
        sys.exit(1)
    if arguments[:1] == ["--describe"]:
        described = {**module.describe(), "contracts": module.contracts()}
        print(json.dumps(described, ensure_ascii=False, separators=(",", ":")))
        sys.exit(0)
    if arguments[:1] in (["--help"], ["-h"]):
        print(f"{module.name}: a module of the Strata bus. STRATA_SOCKET names the bus; --describe prints its hello.")
        sys.exit(0)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(line_buffering=True)  # to a pipe Python would write whole blocks
    if not logging.getLogger().handlers:  # the program has chosen none
        logging.getLogger().addHandler(LogHandler())
    module.context.arguments = arguments
    try:
        asyncio.run(_run(module))
    except BusError as error:
        text = error.message if error is module._keeper.failure else str(error)
        print(f"{module.name}: {' '.join(text.split())}", file=sys.stderr)
        sys.exit(1)
    sys.exit(0)


async def _run(module: "Module") -> None:
    """Runs the module until it ends by itself, by a signal, or with the launcher."""
    loop = asyncio.get_running_loop()
    stopping: asyncio.Task[None] | None = None
    has_ended = False

    def stop(number: int = 0) -> None:
        nonlocal stopping
        if has_ended:  # the loop ends, and would drop a task that begins now
            return
        if stopping is None:
            stopping = loop.create_task(module.close())
        elif number:  # a second signal ends it at once
            os._exit(128 + number)

    def launcher_ended(descriptor: int) -> None:
        loop.remove_reader(descriptor)
        stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop, number)
    lifeline = os.environ.get("STRATA_LIFELINE", "")
    if lifeline.isdigit():
        try:
            os.set_inheritable(int(lifeline), False)
            loop.add_reader(int(lifeline), launcher_ended, int(lifeline))
        except OSError as error:
            logger.warning("the lifeline %s can't be watched: %s", lifeline, error)
    try:
        await module.run(token=os.environ.get("STRATA_TOKEN"))
    finally:
        has_ended = True
        if stopping is not None:
            await stopping
