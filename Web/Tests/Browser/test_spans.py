"""Spans to a collector: a receiver that reads them with OpenTelemetry's own protobuf."""

from __future__ import annotations

import base64
import http.server
import importlib
import json
import os
import pathlib
import subprocess
import sys
import threading
import unittest
from typing import Any

from support import PATIENCE, ROOT, STRATA, App, Lines

VERSION = "1.45.2"


def proto() -> Any:
    """OpenTelemetry's messages from PyPI, installed once beside what was built."""
    folder = ROOT / ".build" / f"opentelemetry-proto-{VERSION}"
    if not folder.exists():
        partial = folder.with_suffix(".part")
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "--target", str(partial), f"opentelemetry-proto=={VERSION}"], check=True)
        partial.rename(folder)
    sys.path.insert(0, str(folder))
    return (
        importlib.import_module("google.protobuf.json_format"),
        importlib.import_module("opentelemetry.proto.collector.trace.v1.trace_service_pb2"),
    )


class Collector(http.server.ThreadingHTTPServer):
    """Takes `POST /v1/traces`, after it has refused as many times as it was told."""

    allow_reuse_address = True

    def __init__(self, port: int = 0, refusals: list[int] | None = None, retry_after: int = 1) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.retry_after = retry_after
        self.spans: list[Any] = []
        self.refusals = refusals or []
        self.changed = threading.Condition()
        self.format, self.messages = proto()
        self.thread = threading.Thread(target=self.serve_forever)
        self.thread.start()

    def take(self, body: bytes) -> None:
        # OTLP writes ids in hexadecimal; protobuf's own JSON has base64.
        def base64_ids(value: Any) -> Any:
            if isinstance(value, list):
                return [base64_ids(element) for element in value]
            if isinstance(value, dict):
                ids = ("traceId", "spanId", "parentSpanId")
                return {
                    name: base64.b64encode(bytes.fromhex(member)).decode() if name in ids else base64_ids(member)
                    for name, member in value.items()
                }
            return value

        request = self.messages.ExportTraceServiceRequest()
        self.format.ParseDict(base64_ids(json.loads(body)), request)
        with self.changed:
            for resource in request.resource_spans:
                names = {attribute.key: attribute.value.string_value for attribute in resource.resource.attributes}
                for scope in resource.scope_spans:
                    self.spans += [(names["service.name"], span) for span in scope.spans]
            self.changed.notify_all()

    def wait(self, count: int) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.spans) >= count, PATIENCE), self.spans

    def close(self) -> None:
        self.shutdown()
        self.thread.join()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.changed:
            status = self.server.refusals.pop(0) if self.server.refusals else 200
        if status == 200:
            assert self.path == "/v1/traces" and self.headers["Content-Type"] == "application/json"
            self.server.take(body)
        self.send_response(status)
        self.send_header("Retry-After", str(self.server.retry_after))
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


class SpanTest(unittest.TestCase):
    def setUp(self) -> None:
        self.app = App("--spans", "spans.jsonl")
        self.addCleanup(self.app.close)
        self.file = f"{self.app.folder}/spans.jsonl"

    def push(self, port: int) -> None:
        url = f"http://127.0.0.1:{port}/v1/traces"
        process = subprocess.Popen(
            [STRATA, "web", "--socket", self.app.socket, "--spans", self.file, "--otlp", url],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines = Lines(process)
        self.lines.find("http://")

        def end() -> None:
            process.terminate()
            process.wait(PATIENCE)
            self.lines.thread.join()
            process.stdout.close()  # type: ignore[union-attr]

        self.addCleanup(end)

    def call(self) -> None:
        self.app.strata("call", "Cart/add", "--trace")

    def test_spans_reach_a_collector_once(self) -> None:
        collector = Collector()
        self.addCleanup(collector.close)
        self.push(collector.server_address[1])
        self.call()
        # A call that is handled and made, a broadcast and a report, each at both ends.
        collector.wait(7)
        spans = collector.spans
        self.assertEqual({module for module, _ in spans}, {"Store", "Cart", "Log"})
        self.assertEqual(len({span.trace_id for _, span in spans}), 1)
        ids = [span.span_id for _, span in spans]
        self.assertEqual(len(ids), len(set(ids)))
        parents = {span.name: span.parent_span_id for module, span in spans if span.name == "Store/put"}
        self.assertTrue(all(len(parent) == 8 for parent in parents.values()))

    def test_a_collector_that_is_away_or_busy_gets_them_later(self) -> None:
        collector = Collector()
        port = collector.server_address[1]
        collector.close()
        self.push(port)
        self.call()
        self.lines.find("doesn't take spans")
        again = Collector(port, [503, 429])
        self.addCleanup(again.close)
        again.wait(7)
        self.assertEqual(again.refusals, [])
        self.assertEqual(len({span.span_id for _, span in again.spans}), len(again.spans))

    def test_a_collector_that_wants_to_be_left_alone_holds_no_end_up(self) -> None:
        collector = Collector(0, [503], retry_after=300)
        self.addCleanup(collector.close)
        self.push(collector.server_address[1])
        self.call()
        # The clean-up ends the server, and waits for less than the collector asks for.
        self.lines.find("it answered 503")

    def test_what_a_collector_refuses_is_said(self) -> None:
        collector = Collector(0, [400])
        self.addCleanup(collector.close)
        self.push(collector.server_address[1])
        self.call()
        self.lines.find("refused .* spans, which are lost")
        with pathlib.Path(self.file).open("a") as file:
            file.write("nonsense\n")
        self.lines.find("are no spans")
        self.call()
        collector.wait(1)


if __name__ == "__main__":
    unittest.main()
