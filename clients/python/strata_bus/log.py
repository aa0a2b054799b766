"""The client's log, and a handler that tells the launcher how serious a line is."""

import logging
import os
import sys

logger = logging.getLogger("strata")

# The levels of syslog, by Python's.
_SEVERITIES = ((logging.CRITICAL, 2), (logging.ERROR, 3), (logging.WARNING, 4), (logging.INFO, 6))


class LogHandler(logging.StreamHandler):  # type: ignore[type-arg]  # typeshed's class is generic, Python's isn't
    """Writes records to standard error, each line with the mark of its level, as sd-daemon(3) defines it: `<4>`.

    The launcher takes the mark off: `strata logs --level` and the journal know the level. Without a launcher there is
    no mark.
    """

    def __init__(self) -> None:
        super().__init__(sys.stderr)
        self._has_launcher = "STRATA_LIFELINE" in os.environ

    def format(self, record: logging.LogRecord) -> str:
        """Returns the record's lines."""
        text = super().format(record)
        if not self._has_launcher:
            return text
        severity = next((severity for level, severity in _SEVERITIES if record.levelno >= level), 7)
        return "\n".join(f"<{severity}>{line}" for line in text.split("\n"))
