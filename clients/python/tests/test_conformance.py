"""`strata conformance`: the client passes it, and it finds what breaks the protocol."""

import pathlib
import subprocess
import sys
import unittest

from support import PATIENCE, strata_program

TESTS = pathlib.Path(__file__).resolve().parent


def kit(*words: str, options: tuple[str, ...] = ()) -> tuple[int, list[str]]:
    """The exit code and the lines of a run."""
    done = subprocess.run(
        [strata_program(), "conformance", "--patience", str(int(PATIENCE)), *options, "--", sys.executable, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()


class Conformance(unittest.TestCase):
    def test_the_client_passes_all_of_it(self) -> None:
        status, lines = kit(str(TESTS / "probe.py"), options=("--whole",))
        self.assertEqual((status, [line for line in lines if line.startswith("  ") and "  ok  " not in line]), (0, []))
        self.assertRegex(lines[-1], r"^\d\d+ passed, 0 failed$")

    def test_what_hello_does_not_have_is_left_out(self) -> None:
        probe = str(TESTS / "plain_probe.py")
        status, lines = kit(probe, options=("--section", "7"))
        self.assertEqual(status, 0, lines)
        self.assertRegex(lines[-1], r"^1 passed, 0 failed, 7 left out$")
        self.assertIn(
            "  left out  notices keep their order: hello doesn't have probe.begun, Probe/notices", lines
        )
        self.assertEqual(kit(probe, options=("--section", "7", "--whole"))[0], 1)

    def test_a_plain_client_passes_what_it_has(self) -> None:
        sections = ("--section", "3", "--section", "4", "--section", "6", "--section", "12")
        status, lines = kit(str(TESTS / "plain_probe.py"), options=sections)
        self.assertEqual((status, [line for line in lines if "FAILED" in line]), (0, []))

    def test_faults_are_found_in_their_section(self) -> None:
        for fault, section, message in [
            ("twice", "6", "a second answer to"),
            ("takes names twice", "2", "the body isn't JSON"),
            ("no parent", "6", "parent should be"),
            ("no credit", "6", "beyond its credit"),
            ("an id again", "6", "is in use by an open request"),
            ("floods", "4", "frames that nothing asked for"),
        ]:
            with self.subTest(fault):
                status, lines = kit(str(TESTS / "plain_probe.py"), fault, options=("--section", section))
                self.assertEqual(status, 1, lines)
                failed = [index for index, line in enumerate(lines) if line.startswith("  FAILED")]
                self.assertTrue(failed, lines)
                self.assertIn(message, lines[failed[0] + 1])
                self.assertTrue(any('< {"kind"' in line for line in lines[failed[0] + 2 :]), lines)

    def test_a_program_that_can_not_be_tried_says_why(self) -> None:
        for words, message in [
            (("-c", "import sys; sys.exit('no disk, no fun')"), "no disk, no fun"),
            ((str(TESTS / "plain_probe.py"), "little endian"), "whose lengths are"),
            ((str(TESTS / "plain_probe.py"), "no hello"), "the first frame must be a call to bus/hello"),
        ]:
            with self.subTest(message):
                status, lines = kit(*words)
                self.assertEqual(status, 3, lines)
                self.assertIn(message, "\n".join(lines))

    def test_bad_usage_is_exit_code_2(self) -> None:
        for options, message in [
            (("--section", "99"), "--section takes 2, 3"),
            (("--patience", "0"), "--patience takes 1 to 3600 seconds"),
        ]:
            with self.subTest(message):
                status, lines = kit("-c", "", options=options)
                self.assertEqual(status, 2, lines)
                self.assertIn(message, "\n".join(lines))
