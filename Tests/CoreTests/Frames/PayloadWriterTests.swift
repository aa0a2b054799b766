@testable import StrataCore
import Testing

@Suite struct PayloadWriterTests {
    /// Tries each size at which the writer's memory may change.
    @Test(arguments: [1, 1_000, 16 << 10, (16 << 10) + 1, 300 << 10, 9 << 20])
    func whatWasWrittenIsThePayload(size: Int) {
        let reclaimer = Reclaimer()
        var writer = PayloadWriter(reclaimer)
        var expected: [UInt8] = []
        while expected.count < size {
            let piece = [UInt8](repeating: UInt8(truncatingIfNeeded: expected.count / 777), count: 777)
            let part = Array(piece.prefix(size - expected.count))
            writer.append(part)
            expected += part
            #expect(writer.count == expected.count)
        }
        do {
            let payload = writer.take()
            #expect(payload.bytes.elementsEqual(expected))
            #expect(reclaimer.payloadBytes == size)
            #expect(writer.count == 0)
        }
        #expect(reclaimer.payloadBytes == 0)
        // Only its bytes are freed in batches, not its unused room.
        #expect(reclaimer.waiting <= max(size, SpareBlocks.largest + 1))
    }

    @Test func nothingWrittenIsAnEmptyPayload() {
        var writer = PayloadWriter(Reclaimer())
        #expect(writer.take().bytes.isEmpty)
        writer.append([])
        #expect(writer.count == 0)
    }

    @Test func itIsWrittenAnewAfterItWasTaken() {
        var writer = PayloadWriter(Reclaimer())
        writer.append([1, 2])
        let first = writer.take()
        writer.append([3])
        let second = writer.take()
        #expect(first.bytes.elementsEqual([1, 2]))
        #expect(second.bytes.elementsEqual([3]))
    }
}
