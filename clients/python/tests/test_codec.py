"""Frames: whole, in pieces, cut off, too large."""

import concurrent.futures
import json
import random
import struct
import unittest
from typing import Any

import support
from support import strata_bus
from strata_bus.codec import encode
from strata_bus.parsing import decode

FRAMES = [
    ({"kind": "call", "id": 1, "to": "bus/hello"}, b'{"protocol":1}'),
    ({"kind": "reply", "id": 4194304}, b""),
    ({"kind": "error", "id": 7, "message": "caf\u00e9 \u9673"}, b"null"),
    ({"kind": "reply", "id": 9, "more": True}, b"x" * 70_000),
]


def frame(header: dict[str, Any], body: bytes) -> bytes:
    return strata_bus.encode_frame(json.dumps(header, ensure_ascii=False).encode(), body)


ALL = b"".join(frame(*one) for one in FRAMES)


class CodecTests(unittest.TestCase):
    def read(self, pieces: list[bytes], decoder: strata_bus.FrameDecoder) -> list[tuple[dict[str, Any], bytes]]:
        return [one for piece in pieces for one in decoder.feed(piece)]

    def refusal(self, data: bytes, **limits: int) -> strata_bus.BusError:
        with self.assertRaises(strata_bus.BusError) as raised:
            list(strata_bus.FrameDecoder(**limits).feed(data))
        return raised.exception

    def test_a_frame_has_the_bytes_of_the_page(self) -> None:
        self.assertEqual(
            strata_bus.encode_frame(b'{"kind":"reply","id":29360128}', b'{"was":false}'),
            bytes.fromhex("0000002f0000001e") + b'{"kind":"reply","id":29360128}{"was":false}')

    def test_frames_come_whole_and_several_at_once(self) -> None:
        self.assertEqual(self.read([frame(*one) for one in FRAMES], strata_bus.FrameDecoder()), FRAMES)
        self.assertEqual(self.read([ALL], strata_bus.FrameDecoder()), FRAMES)

    def test_frames_come_byte_by_byte(self) -> None:
        decoder = strata_bus.FrameDecoder()
        self.assertEqual(self.read([ALL[i : i + 1] for i in range(len(ALL))], decoder), FRAMES)
        self.assertEqual(decoder.kept, 0)

    def test_frames_come_in_random_pieces(self) -> None:
        source = random.Random(7)
        for _ in range(50):
            pieces, position = [], 0
            while position < len(ALL):
                size = source.choice([1, 3, 8, 100, 5_000])
                pieces.append(ALL[position : position + size])
                position += size
            self.assertEqual(self.read(pieces, strata_bus.FrameDecoder()), FRAMES)

    def test_a_truncated_frame_is_kept_and_gives_nothing(self) -> None:
        whole = frame(*FRAMES[0])
        for length in range(len(whole)):
            decoder = strata_bus.FrameDecoder()
            self.assertEqual(list(decoder.feed(whole[:length])), [])
            self.assertEqual(decoder.kept, length)
            self.assertEqual(list(decoder.feed(whole[length:])), FRAMES[:1])

    def test_limits_are_checked_on_the_lengths_alone(self) -> None:
        self.assertEqual(self.refusal(struct.pack(">I", 101), frame=100).code, "too-large")
        self.assertEqual(self.refusal(struct.pack(">II", 100, 51), frame=100, header=50).code, "too-large")
        self.assertEqual(list(strata_bus.FrameDecoder(frame=100, header=50).feed(struct.pack(">II", 100, 50))), [])

    def test_the_excess_is_taken_before_hello_and_no_more(self) -> None:
        most = (16 << 20) + 1024
        self.assertEqual(list(strata_bus.FrameDecoder().feed(struct.pack(">II", most, (16 << 10) + 1024))), [])
        self.assertEqual(self.refusal(struct.pack(">I", most + 1)).code, "too-large")
        self.assertEqual(self.refusal(struct.pack(">II", most, (16 << 10) + 1025)).code, "too-large")

    def test_lengths_that_contradict_each_other(self) -> None:
        for data in (struct.pack(">I", 3), struct.pack(">I", 0), struct.pack(">II", 10, 7)):
            self.assertEqual(self.refusal(data).code, "bad-frame")

    def test_a_name_that_is_there_twice_is_refused(self) -> None:
        for text in ('{"a":1,"b":2,"a":3}', '{"x":[{"y":{"a":1,"\\u0061":2}}]}', '{"":1,"":1}'):
            with self.assertRaisesRegex(ValueError, "is there twice"):
                decode(text.encode())
        self.assertEqual(decode(b'{"a":{"a":1},"b":{"a":1}}'), {"a": {"a": 1}, "b": {"a": 1}})
        # A large one is refused in one pass.
        members = ",".join(f'"k{number}":0' for number in range(100_000))
        with self.assertRaisesRegex(ValueError, "'k99999' is there twice"):
            decode(f'{{{members},"k99999":1}}'.encode())

    def test_headers_that_are_none(self) -> None:
        for header in (b"", b"[]", b"1", b"{", b'{"kind":1}', b"{}", b'\xff{"kind":"a"}', b'{"kind":NaN}',
                       b'{"kind":"a"}x', b"\xef\xbb\xbf" + b'{"kind":"a"}', b"[" * 12_000):  # fmt: skip
            self.assertEqual(self.refusal(strata_bus.encode_frame(header)).code, "bad-header", header[:20])
        with self.assertRaises(strata_bus.BusError):
            self.read([bytes([byte]) for byte in strata_bus.encode_frame(b"")], strata_bus.FrameDecoder())

    def test_frames_before_a_bad_one_are_given(self) -> None:
        decoder = strata_bus.FrameDecoder()
        got = []
        with self.assertRaises(strata_bus.BusError):
            for one in decoder.feed(frame(*FRAMES[0]) + frame(*FRAMES[1]) + struct.pack(">I", 1)):
                got.append(one)
        self.assertEqual(got, FRAMES[:2])

    def test_a_large_frame_in_pieces_costs_one_pass(self) -> None:
        body = b"1" * (8 << 20)
        data = frame({"kind": "reply", "id": 1}, body)
        decoder = strata_bus.FrameDecoder()
        pieces = [data[i : i + 65_536] for i in range(0, len(data), 65_536)]
        self.assertEqual(self.read(pieces, decoder), [({"kind": "reply", "id": 1}, body)])
        self.assertEqual(decoder.kept, 0)

    def test_a_value_that_can_not_be_written_leaves_nothing_behind(self) -> None:
        inner: list[Any] = [1]
        circle: list[Any] = [inner]
        circle.append(circle)
        deep: list[Any] = []
        for _ in range(100_000):
            deep = [deep]
        for value in (circle, [inner, {1, 2}], [inner, float("nan")], [inner, deep], [inner, {(1,): 2}]):
            with self.assertRaises(ValueError):
                encode(value)
            value[1:] = [inner]  # which is no circle
            self.assertEqual(encode(value), b"[[1],[1]]")

    def test_a_value_may_be_written_while_it_is_written(self) -> None:
        written: list[bytes] = []

        class Pairs(dict[str, Any]):
            def items(self) -> Any:
                if not written:
                    written.append(b"")
                    written.append(encode(outer))
                return super().items()

        encode({})  # so that there is an encoder
        outer = [Pairs(a=1)]
        self.assertEqual(encode(outer), b'[{"a":1}]')
        self.assertEqual(written, [b"", b'[{"a":1}]'])

    def test_threads_write_the_same_value(self) -> None:
        value = [{"a": [number] * 50} for number in range(200)]
        expected = json.dumps(value, separators=(",", ":")).encode()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            self.assertEqual(set(pool.map(lambda _: encode(value), range(40))), {expected})


assert support  # which puts the client on the path
