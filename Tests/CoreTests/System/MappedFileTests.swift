import Glibc
import Testing

@testable import StrataCore
@testable import StrataLoop

/// The bytes of a file from another program are freed page by page.
struct MappedFileTests {
    private func file(_ count: Int) throws -> Int32 {
        let descriptor = try MemoryFile.makeSealable("test")
        let bytes = [UInt8](repeating: 7, count: count)
        #expect(write(descriptor, bytes, count) == count)
        return descriptor
    }

    private func kept(_ descriptor: Int32) -> Int {
        var status = stat()
        fstat(descriptor, &status)
        return Int(status.st_blocks) * 512
    }

    @Test func aFileThatCouldShrinkIsNotMapped() throws {
        let descriptor = try file(10_000)
        defer { close(descriptor) }
        #expect(throws: SystemError.self) { try MappedFile(descriptor) }
        try MemoryFile.sealSize(descriptor)
        #expect(try MappedFile(descriptor).bytes.count == 10_000)
        #expect(ftruncate(descriptor, 0) != 0)
        #expect(throws: SystemError.self) { try MappedFile(-1) }
    }

    @Test(.promise("10.31")) func aPayloadsPagesGoBackWithIt() throws {
        let descriptor = try file(1 << 20)
        defer { close(descriptor) }
        try MemoryFile.sealSize(descriptor)
        let reclaimer = Reclaimer()
        let file = try MappedFile(descriptor)
        var first: Payload? = Payload(.init(rebasing: file.bytes[..<700_000]), in: file, reclaimer)
        let second = Payload(.init(rebasing: file.bytes[700_000...]), in: file, reclaimer)
        #expect(reclaimer.payloadBytes == 1 << 20)
        #expect(first?.bytes.allSatisfy { $0 == 7 } == true)
        first = nil
        #expect(reclaimer.payloadBytes == (1 << 20) - 700_000)
        // In batches, like all large memory.
        var pieces = 0
        while !reclaimer.isEmpty {
            reclaimer.giveBack()
            pieces += 1
        }
        #expect(pieces == 6)
        #expect(kept(descriptor) <= (1 << 20) - 700_000 + 4_096)
        #expect(second.bytes.allSatisfy { $0 == 7 })
    }

    @Test func whatIsWrittenOfALargePayloadGoesBackMeanwhile() throws {
        let descriptor = try file(1 << 20)
        defer { close(descriptor) }
        try MemoryFile.sealSize(descriptor)
        let file = try MappedFile(descriptor)
        let payload = Payload(file.bytes, in: file, Reclaimer())
        var outbox = Outbox(pool: OutboxPool())
        _ = outbox.reserve(8)
        outbox.commit(inlineCount: 8, payload: payload, isAnswer: false)
        outbox.wrote(8 + (1 << 19))
        #expect(kept(descriptor) == 1 << 19)
        #expect(payload.bytes[(1 << 19)...].allSatisfy { $0 == 7 })
    }
}
