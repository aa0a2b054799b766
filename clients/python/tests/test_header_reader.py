"""Headers: one that is like an earlier one gets the verdict that it gets by itself."""

import json
import random
import unittest
from typing import Any

import support
from support import strata_bus
from strata_bus.header_reader import HeaderReader
from strata_bus.limits import LONGEST_KNOWN, MOST_KNOWN

GOOD = [
    b'{"kind":"reply","id":7}',
    b'{"kind":"reply","id":7,"more":true}',
    b'{"kind":"call","id":4194305,"to":"Echo/now","from":"operator","deadline":30000,"credit":16}',
    b'{"kind":"call","id":4194305,"to":"Caf\xc3\xa9/now","from":"operator","deadline":0,"credit":0}',
    b'{"kind":"call","id":4194305,"to":"Echo/now","from":"Low","meta":{"a":[1]}}',
    b'{"kind":"call","id":4194305,"to":"Echo/now","from":"Low","trace":"00-ab-cd-01"}',
    b'{"kind":"call","id":4194305,"to":"Echo/now","descriptors":2}',
    b'{"kind":"error","id":9,"code":"failed","message":"a \\"id\\":8, b","ran":"yes"}',
    b'{"kind":"error","code":"shutting-down","message":"none"}',
    b'{"kind":"notice","id":5,"name":"said","subscription":3,"via":"report"}',
]
# Each looks like one of the good ones to a reader that doesn't look at all of it.
HOSTILE = [
    b'{"kind":"reply","id":07}', b'{"kind":"reply","id":-7}', b'{"kind":"reply","id":7.0}', b'{"kind":"reply","id":7e1}',
    b'{"kind":"reply","id":}', b'{"kind":"reply","id":7,}', b'{"kind":"reply","id":7', b'{"kind":"reply","id":7}}',
    b'{"kind":"reply","id":7 }', b'{"kind":"reply","id": 7}', b'{"kind":"reply","id":7}\n', b'{"kind":"reply","id":7]',
    b'{"kind":"reply","id":"7"}', b'{"kind":"reply","id":\xd9\xa7}', b'{"kind":"reply","id":7_0}', b'{"kind":"reply",,"id":7}',
    b'{"kind":"reply","id":7,"id":8}', b'{"kind":"reply","id":7,"\\u0069d":8}', b'{"kind":"reply","id":7,"kind":"call"}',
    b'{"kind":"reply","id":7,"more":true,}', b'{"kind":"reply","id":7,8,"more":true}', b'{"kind":"reply","id":7,"more":tru}',
    b'{"kind":7,"id":7}', b'{"to":{"kind":"reply","id":7}}', b'{"to":{"a":1,"id":7,"b":2},"kind":"reply"}', b'["kind","id",7]',
    b'{"to":{"a":1,"id":8,"b":2},"kind":"reply"}',
    b'{"kind":"reply,","id":7}', b'{"kind":"reply,\\"id\\":7"}', b'{"kind":"re\\",\\"id\\":7,","more":true}', b',"id":7}',
    b'{"kind":"reply","id":7,"to":"\xff"}', b'\xef\xbb\xbf{"kind":"reply","id":7}', b'{"kind":"reply","id":7,"a":NaN}',
    b'{"kind":"reply","id":%b}' % (b"9" * 5000), b'{"kind":"reply","id":7,"a":%b}' % (b"[" * 12_000),
    b'{"kind":"call","id":7,"to":"a/b","deadline":"x"}', b'{"kind":"call","id":7,"to":"a/b","deadline":null}',
]  # fmt: skip


def verdict(reader: HeaderReader, data: bytes) -> object:
    """Returns the header in its order, or the error."""
    try:
        return json.dumps(reader.read(data))
    except strata_bus.BusError as error:
        return error.code, error.message


class HeaderReaderTests(unittest.TestCase):
    def check(self, reader: HeaderReader, data: bytes) -> None:
        """Compares a reader that knows headers with one that knows none, and with the parser."""
        alone = verdict(HeaderReader(), data)
        self.assertEqual(verdict(reader, data), alone, data[:100])
        self.assertEqual(verdict(reader, data), alone, f"{data[:100]!r} for the second time")

    def test_each_header_has_the_verdict_that_it_has_alone(self) -> None:
        reader = HeaderReader()
        for data in [*GOOD, *HOSTILE, *GOOD, *HOSTILE]:
            self.check(reader, data)

    def test_so_have_headers_with_random_changes(self) -> None:
        source, reader = random.Random(7), HeaderReader()
        parts = [b'"id":', b',"id":8', b"0", b"7", b"1", b",", b"}", b"{", b'"', b"\\", b" ", b":", b"\xff", b'"more":true', b""]
        for number in range(20_000):
            data = source.choice(GOOD)
            for _ in range(source.choice([1, 1, 2, 3])):
                start = source.randrange(len(data))
                data = data[:start] + source.choice(parts) + data[start + source.choice([0, 1, 2, 5]) :]
            reader.read(GOOD[number % len(GOOD)])
            self.check(reader, data)

    def test_the_numbers_differ(self) -> None:
        reader = HeaderReader()
        for number in (7, 8, 4194305, (1 << 53) - 1, 1 << 64):
            for tail in (b"}", b',"more":true}', b',"to":"Echo/now"}'):
                data = b'{"kind":"reply","id":%d%b' % (number, tail)
                self.assertEqual(reader.read(data), json.loads(data))

    def test_what_is_done_to_a_header_does_not_show_in_the_next(self) -> None:
        reader = HeaderReader()
        for _ in range(3):
            header: dict[str, Any] = reader.read(GOOD[4])
            self.assertEqual(header, json.loads(GOOD[4]))
            header["meta"]["a"].append(2)
            for data in (GOOD[2], GOOD[6]):
                header = reader.read(data)
                self.assertEqual(header, json.loads(data))
                header["to"], header["descriptors"] = "Other/action", []

    def test_it_remembers_only_so_much(self) -> None:
        reader = HeaderReader()
        for number in range(3 * MOST_KNOWN):
            reader.read(b'{"kind":"call","id":1,"to":"I/a%d"}' % number)
            self.assertLessEqual(len(reader._known), MOST_KNOWN)
        reader._known.clear()
        reader.read(b'{"kind":"call","id":1,"to":"%b"}' % (b"a" * LONGEST_KNOWN))
        self.assertFalse(reader._known, "a long one")
        reader.read(GOOD[5])
        self.assertFalse(reader._known, "one that no other is like")


assert support  # which puts the client on the path
