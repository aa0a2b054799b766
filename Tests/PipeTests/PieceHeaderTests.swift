import StrataTesting
import Testing

@testable import StrataPipe

/// The codec of pieces: whole, truncated, damaged and random.
struct PieceHeaderTests {
    static func encoded(_ header: PieceHeader) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xEE, count: PieceHeader.size)
        bytes.withUnsafeMutableBytes { header.write(to: $0.baseAddress!) }
        return bytes
    }

    static func read(_ bytes: [UInt8]) throws(PieceError) -> PieceHeader {
        try bytes.withUnsafeBytes { raw in
            Result { () throws(PieceError) in try PieceHeader(reading: raw) }
        }.get()
    }

    static let sample: PieceHeader = {
        var header = PieceHeader(session: 0x0102_0304_0506_0708)
        header.flags = [.isResend, .asks]
        header.probe = 0x1112
        header.waiting = 0x0021_2223
        header.offset = 0x3132_3334_3536_3738
        header.ack = 0x2122_2324_2526_2728
        return header
    }()

    @Test func eachMemberHasItsPlace() throws {
        let bytes: [UInt8] = [
            1, 6, 0x11, 0x12, 0, 0x21, 0x22, 0x23, 1, 2, 3, 4, 5, 6, 7, 8, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37,
            0x38, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
        ]
        #expect(Self.encoded(Self.sample) == bytes)
        #expect(try Self.read(bytes) == Self.sample)
        #expect(try Self.read(bytes + [9, 9, 9]) == Self.sample, "bytes follow it")
    }

    @Test func aTruncatedPieceIsRefused() {
        let bytes = Self.encoded(Self.sample)
        for count in 0..<PieceHeader.size {
            #expect(throws: PieceError.tooShort(count)) { try Self.read(Array(bytes[..<count])) }
        }
    }

    @Test func aPieceMayBeSoLongAndNoLonger() throws {
        let largest = Self.encoded(Self.sample) + [UInt8](repeating: 0, count: PieceHeader.largestPayload)
        #expect(try Self.read(largest) == Self.sample)
        #expect(throws: PieceError.tooLong(largest.count + 1)) { try Self.read(largest + [0]) }
    }

    @Test func whatContradictsItselfIsRefused() {
        func refused(_ error: PieceError, _ change: (inout PieceHeader) -> Void) {
            var header = Self.sample
            change(&header)
            #expect(throws: error) { try Self.read(Self.encoded(header)) }
        }
        var bytes = Self.encoded(Self.sample)
        bytes[0] = 2
        #expect(throws: PieceError.version(2)) { try Self.read(bytes) }
        refused(.flags(0x14)) { $0.flags = PieceHeader.Flags(rawValue: 0x14) }
        refused(.probe(1)) {
            $0.flags = [.asks, .answers]
            $0.probe = 1
        }
        refused(.probe(0)) { $0.probe = 0 }
        refused(.probe(0x1112)) { $0.flags = [.wantsResend] }
        refused(.place) { $0.waiting = UInt32(PipeSettings.largestWindow) + 1 }
        refused(.place) { $0.offset = PieceHeader.lastPlace + 1 }
        refused(.place) { $0.ack = .max }
    }

    @Test func randomBytesAreReadAsWrittenOrRefused() {
        var generator = SeededGenerator(1)
        var read = 0
        for _ in 0..<20_000 {
            var bytes = (0..<Int.random(in: 0...48, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            // Most random bytes are refused by the first of them.
            if bytes.count >= PieceHeader.size, Bool.random(using: &generator) {
                bytes[0] = PieceHeader.version
                bytes[1] &= 3
                for place in [2, 3, 4, 16, 24] { bytes[place] = 0 }
            }
            guard let header = try? Self.read(bytes) else { continue }
            read += 1
            #expect(Self.encoded(header) == Array(bytes[..<PieceHeader.size]))
        }
        #expect(read > 1_000)
    }
}
