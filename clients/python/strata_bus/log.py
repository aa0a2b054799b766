"""The client's log."""

import logging

logger = logging.getLogger("strata")
