"""What the commands say if something isn't there or can't be used."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import unittest

from support import PATIENCE, STRATA


def run(*words: str, program: str = STRATA) -> tuple[int, str]:
    done = subprocess.run([program, *words], capture_output=True, text=True, timeout=PATIENCE)
    return done.returncode, done.stderr


class UsageTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def test_without_strata_web_it_is_said_how_to_get_it(self) -> None:
        alone = shutil.copy(os.path.realpath(STRATA), self.folder)
        for words in (("web",), ("metrics", "--listen", "0")):
            status, error = run(*words, "--socket", "/tmp/none.sock", program=alone)
            self.assertEqual(status, 2)
            self.assertIn("scripts/web --build", error)

    def test_places_that_cannot_be_listened_on_are_bad_usage(self) -> None:
        places = ("example.org:9464", "9464x", "70000", "web.sock", ":9464", "[127.0.0.1]:1", "/none/of/these.sock")
        for place in places:
            for command in ("web", "metrics"):
                status, error = run(command, "--socket", "/tmp/none.sock", "--listen", place)
                self.assertEqual(status, 2, place)
                self.assertIn(place, error)

    def test_a_path_that_is_taken_is_refused(self) -> None:
        file = f"{self.folder}/file"
        open(file, "w").close()
        status, error = run("web", "--socket", "/tmp/none.sock", "--listen", file)
        self.assertEqual(status, 2)
        self.assertIn("is not a socket", error)
        path = f"{self.folder}/live.sock"
        with socket.socket(socket.AF_UNIX) as live:
            live.bind(path)
            live.listen()
            status, error = run("metrics", "--socket", "/tmp/none.sock", "--listen", path)
            self.assertEqual(status, 2)
            self.assertIn("another process listens", error)
        self.assertTrue(os.path.exists(path))

    def test_a_port_that_is_taken_is_refused(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            place = f"127.0.0.1:{server.getsockname()[1]}"
            status, error = run("web", "--socket", "/tmp/none.sock", "--listen", place)
            self.assertEqual(status, 2)
            self.assertIn(place, error)

    def test_options_that_go_together(self) -> None:
        for words in (("--otlp", "http://127.0.0.1:4318/v1/traces"), ("--spans", "x"), ("--otlp", "x", "--spans", "x")):
            status, error = run("web", "--socket", "/tmp/none.sock", *words)
            self.assertEqual(status, 2)
            self.assertIn("--otlp", error)
