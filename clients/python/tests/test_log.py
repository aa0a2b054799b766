"""The handler that marks lines with their level."""

import io
import logging
import os
import unittest
from unittest import mock

from support import strata_bus


def written(environment: dict[str, str]) -> str:
    """What a logger writes at each level."""
    with mock.patch.dict(os.environ, environment), mock.patch("sys.stderr", new=io.StringIO()) as output:
        os.environ.pop("STRATA_LIFELINE", None)
        os.environ.update(environment)
        logger = logging.Logger("test")
        logger.addHandler(strata_bus.LogHandler())
        logger.debug("a")
        logger.info("b")
        logger.warning("c\nd")
        logger.error("%s", "e")
        logger.critical("f")
    return output.getvalue()


class LogTest(unittest.TestCase):
    def test_each_line_has_the_mark_of_its_level(self) -> None:
        self.assertEqual(written({"STRATA_LIFELINE": "3"}), "<7>a\n<6>b\n<4>c\n<4>d\n<3>e\n<2>f\n")

    def test_without_a_launcher_there_are_no_marks(self) -> None:
        self.assertEqual(written({}), "a\nb\nc\nd\ne\nf\n")


if __name__ == "__main__":
    unittest.main()
