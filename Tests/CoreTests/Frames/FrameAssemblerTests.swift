import StrataCore
import StrataTesting
import Testing
import TestSupport

/// A frame as plain bytes.
private struct Plain: Equatable, CustomStringConvertible {
    var header: [UInt8]
    var body: [UInt8]

    var bytes: [UInt8] {
        Self.bigEndian(UInt32(4 + header.count + body.count)) + Self.bigEndian(UInt32(header.count)) + header + body
    }

    var description: String { "\(header.count) + \(body.count) bytes" }

    static func bigEndian(_ value: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }

    static func random(_ generator: inout SeededGenerator, longest: Int) -> Plain {
        func some(_ most: Int) -> [UInt8] {
            let count = Int.random(in: 0...most, using: &generator)
            return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        }
        return Plain(header: some(min(longest, 300)), body: some(Int.random(in: 0...longest, using: &generator)))
    }
}

/// Feeds bytes in chunks, as a peer's turns would.
private func frames(
    of bytes: [UInt8], _ assembler: inout FrameAssembler, pieces: () -> Int = { .max }
) throws -> [Plain] {
    let buffer = ReadBuffer()
    var frames: [Plain] = []
    var rest = bytes[...]
    while !rest.isEmpty {
        let space = assembler.space(in: buffer)
        let piece = Array(rest.prefix(min(space.count, max(1, pieces()))))
        space.copyBytes(from: piece)
        rest = rest.dropFirst(piece.count)
        assembler.received(piece.count)
        while let frame = try assembler.next() {
            frames.append(Plain(header: Array(frame.header), body: Array(frame.body)))
        }
        assembler.keepRest()
    }
    return frames
}

@Suite(.timeLimit(.hang))
struct FrameAssemblerTests {
    private static let limits = FrameLimits(frame: 1 << 20, header: 1_000)

    private static let several = [
        Plain(header: Array("{}".utf8), body: []), Plain(header: [], body: []), Plain(header: [], body: [1, 2, 3]),
        Plain(header: Array(repeating: 7, count: 1_000), body: Array(repeating: 8, count: 100)),
        Plain(header: Array("{\"kind\":\"call\"}".utf8), body: Array("null".utf8)),
    ]

    /// One turn takes a body of a turn's size, and nothing larger.
    @Test(arguments: [(0, true), (4_088, true), (4_089, false), (100_000, false)])
    func aTurnTakesTheRestOfAFrameThatFillsIt(_ header: Int, _ isTaken: Bool) throws {
        let limits = FrameLimits(frame: 1 << 20, header: 1 << 20)
        let frame = Plain(header: Array(repeating: 7, count: header), body: Array(repeating: 8, count: ReadBuffer.turn))
        var assembler = FrameAssembler(limits: limits)
        let buffer = ReadBuffer()
        defer { withExtendedLifetime(buffer) {} }
        let space = assembler.space(in: buffer)
        #expect(space.count == ReadBuffer.turn)
        space.copyBytes(from: frame.bytes.prefix(space.count))
        assembler.received(space.count)
        let rest = assembler.spaceForRest()
        #expect((rest != nil) == isTaken)
        guard let rest else { return }
        #expect(rest.count == 8 + header)
        rest.copyBytes(from: frame.bytes.suffix(rest.count))
        assembler.received(rest.count)
        #expect(assembler.spaceForRest() == nil)
        let next = try #require(try assembler.next())
        #expect(Plain(header: Array(next.header), body: Array(next.body)) == frame)
        assembler.keepRest()
        #expect(assembler.keptCount == 0)
        // The next frame is expected to have the same size, until one doesn't.
        let larger = assembler.space(in: buffer)
        #expect(larger.count == ReadBuffer.turn + 4_096)
        larger.copyBytes(from: frame.bytes)
        assembler.received(frame.bytes.count)
        #expect(try assembler.next()?.body.count == ReadBuffer.turn)
        assembler.keepRest()
        #expect(assembler.space(in: buffer).count == ReadBuffer.turn + 4_096)
        let small = Plain(header: [], body: Array(repeating: 8, count: 1_000))
        larger.copyBytes(from: small.bytes + small.bytes)
        assembler.received(2 * small.bytes.count)
        for _ in 0..<2 { #expect(try assembler.next()?.body.count == 1_000) }
        assembler.keepRest()
        #expect(assembler.space(in: buffer).count == ReadBuffer.turn)
    }

    @Test func aLargeFramesMemoryCanBeGivenAway() throws {
        let limits = FrameLimits(frame: 16 << 20, header: 1_000)
        let frame = Plain(header: [1, 2], body: Array(repeating: 8, count: 2 << 20))
        var assembler = FrameAssembler(limits: limits)
        let buffer = ReadBuffer()
        defer { withExtendedLifetime(buffer) {} }
        var sent = 0
        while true {
            let space = assembler.space(in: buffer)
            let piece = frame.bytes[sent...].prefix(space.count)
            space.copyBytes(from: piece)
            sent += piece.count
            assembler.received(piece.count)
            if let next = try assembler.next() {
                // Not for bytes that lie elsewhere.
                let other: [UInt8] = [1]
                let elsewhere = other.withUnsafeBytes { assembler.giveAway($0) }
                #expect(elsewhere == nil)
                let given = assembler.giveAway(next.body)
                let memory = try #require(given)
                defer { memory.deallocate() }
                #expect(Array(next.body) == frame.body)
                let further = try assembler.next()
                #expect(further == nil)
                assembler.keepRest()
                #expect(assembler.keptCount == 0)
                break
            }
            assembler.keepRest()
        }
        // It continues with the next frame, which lies in the shared buffer.
        let small = Plain(header: [], body: [5])
        assembler.space(in: buffer).copyBytes(from: small.bytes)
        assembler.received(small.bytes.count)
        let next = try #require(try assembler.next())
        #expect(Array(next.body) == [5])
        let given = assembler.giveAway(next.body)
        #expect(given == nil)
    }

    @Test func aTurnOfSeveralFramesTakesNoMore() throws {
        let limits = FrameLimits(frame: 1 << 20, header: 1_000)
        let frame = Plain(header: [], body: Array(repeating: 8, count: 1_000))
        let bytes = Array(repeatElement(frame.bytes, count: 66).joined())
        var assembler = FrameAssembler(limits: limits)
        let buffer = ReadBuffer()
        defer { withExtendedLifetime(buffer) {} }
        let space = assembler.space(in: buffer)
        space.copyBytes(from: bytes.prefix(space.count))
        assembler.received(space.count)
        #expect(assembler.spaceForRest() == nil)
        assembler.drop()
    }

    @Test func framesAreReadWholeAndBatched() throws {
        for frame in Self.several {
            var assembler = FrameAssembler(limits: Self.limits)
            #expect(try frames(of: frame.bytes, &assembler) == [frame])
            #expect(assembler.keptCount == 0)
        }
        var assembler = FrameAssembler(limits: Self.limits)
        #expect(try frames(of: Self.several.flatMap(\.bytes), &assembler) == Self.several)
        #expect(assembler.keptCount == 0)
    }

    @Test(arguments: [1, 2, 3, 5, 8, 13, 999])
    func framesAreReadInPieces(size: Int) throws {
        var assembler = FrameAssembler(limits: Self.limits)
        #expect(try frames(of: Self.several.flatMap(\.bytes), &assembler) { size } == Self.several)
        #expect(assembler.keptCount == 0)
    }

    @Test func framesAreReadInTwoPiecesCutAnywhere() throws {
        let two = [Plain(header: [1, 2, 3], body: [4, 5]), Plain(header: [6], body: [])]
        let bytes = two.flatMap(\.bytes)
        for cut in 1..<bytes.count {
            var assembler = FrameAssembler(limits: Self.limits)
            let first = try frames(of: Array(bytes[..<cut]), &assembler)
            #expect(try first + frames(of: Array(bytes[cut...]), &assembler) == two, "cut at \(cut)")
        }
    }

    @Test(.promise("2.1"), arguments: 0..<30)
    func randomFramesAreReadInRandomPieces(seed: Int) throws {
        var generator = SeededGenerator(seed)
        let longest = [10, 3_000, 90_000][seed % 3]
        let sent = (0..<20).map { _ in Plain.random(&generator, longest: longest) }
        var assembler = FrameAssembler(limits: Self.limits)
        let pieces = [40, 5_000, 80_000][seed / 3 % 3]
        let read = try frames(of: sent.flatMap(\.bytes), &assembler) { Int.random(in: 1...pieces, using: &generator) }
        #expect(read == sent)
        #expect(assembler.keptCount == 0)
    }

    @Test(arguments: [65_000, 65_536 - 9, 65_536, 70_000, 131_072, 1 << 20])
    func largeFramesAreReadBetweenSmallOnes(size: Int) throws {
        let small = Plain(header: [1], body: [2])
        let header = [UInt8](repeating: 3, count: 20)
        let large = Plain(header: header, body: [UInt8](repeating: 4, count: size - 4 - header.count))
        for pieces in [1_000, 65_536, 4] where pieces > 4 || size < 70_000 {
            var assembler = FrameAssembler(limits: Self.limits)
            let sent = [small, large, small, large, small]
            #expect(try frames(of: sent.flatMap(\.bytes), &assembler) { pieces } == sent)
            #expect(assembler.keptCount == 0)
        }
    }

    @Test func aTruncatedFrameIsKeptAndNotGiven() throws {
        let bytes = Plain(header: [1, 2, 3], body: [4, 5]).bytes
        for count in 1..<bytes.count {
            var assembler = FrameAssembler(limits: Self.limits)
            #expect(try frames(of: Array(bytes[..<count]), &assembler) == [])
            #expect(assembler.keptCount == count)
        }
    }

    @Test(
        .promise("2.2"),
        arguments: [
            (3, nil, FrameError.contradiction(frame: 3, header: 0)), (0, nil, .contradiction(frame: 0, header: 0)),
            (.max, nil, .frameTooLarge(.max, limit: 1 << 20)),
            ((1 << 20) + 1, nil, .frameTooLarge((1 << 20) + 1, limit: 1 << 20)),
            (20, 17, .contradiction(frame: 20, header: 17)), (20, .max, .contradiction(frame: 20, header: .max)),
            (5_000, 1_001, .headerTooLarge(1_001, limit: 1_000)),
        ] as [(UInt32, UInt32?, FrameError)])
    func limitsAreCheckedOnTheLengthsAlone(frame: UInt32, header: UInt32?, error: FrameError) throws {
        let bytes = Plain.bigEndian(frame) + (header.map(Plain.bigEndian) ?? [])
        for size in [1, 3, 8] {
            var assembler = FrameAssembler(limits: Self.limits)
            #expect(throws: error) { try frames(of: bytes, &assembler) { size } }
        }
    }

    @Test func whatTheLimitsAllowIsTaken() throws {
        let header = [UInt8](repeating: 1, count: 1_000)
        let largest = Plain(header: header, body: [UInt8](repeating: 2, count: (1 << 20) - 4 - 1_000))
        var assembler = FrameAssembler(limits: Self.limits)
        #expect(try frames(of: largest.bytes, &assembler) == [largest])
    }

    @Test func aFrameThatIsPutBackComesAgainWithThoseBehindIt() throws {
        let sent = (0..<3).map { Plain(header: [$0], body: [UInt8](repeating: $0, count: 50)) }
        let buffer = ReadBuffer()
        var assembler = FrameAssembler(limits: Self.limits)
        let space = assembler.space(in: buffer)
        let bytes = sent.flatMap(\.bytes)
        space.copyBytes(from: bytes)
        assembler.received(bytes.count)
        _ = try assembler.next()
        if let second = try assembler.next() { assembler.putBack(second) }
        assembler.keepRest()
        #expect(assembler.keptCount > 0)
        assembler.resume()
        for expected in sent[1...] {
            let frame = try assembler.next().map { Plain(header: Array($0.header), body: Array($0.body)) }
            #expect(frame == expected)
        }
        let none = try assembler.next() == nil
        #expect(none)
        assembler.keepRest()
        #expect(assembler.keptCount == 0)
    }

    /// A frame that isn't read for a while lies in pages of its own, which are freed later.
    @Test(arguments: [(60_000, false, 0), (60_000, true, 80 << 10), (1_000, true, 0)])
    func whatWaitsForLongHasPagesOfItsOwn(count: Int, forLong: Bool, spare: Int) throws {
        let reclaimer = Reclaimer()
        var assembler = FrameAssembler(limits: FrameLimits(frame: 16 << 20, header: 16 << 10), reclaimer)
        let buffer = ReadBuffer()
        let plain = Plain(header: [1], body: [UInt8](repeating: 7, count: count))
        // A part of it is kept as usual before the rest arrives.
        let parts = [plain.bytes.prefix(count / 2), plain.bytes.dropFirst(count / 2)]
        for part in parts {
            assembler.space(in: buffer).copyBytes(from: part)
            assembler.received(part.count)
            if let frame = try assembler.next() { assembler.putBack(frame) }
            assembler.keepRest(forLong: forLong && part.startIndex > 0)
        }
        #expect(Array(assembler.kept) == plain.bytes)
        assembler.resume()
        #expect(try assembler.next()?.body.elementsEqual(plain.body) == true)
        assembler.keepRest()
        #expect(reclaimer.spareCount == spare)
    }
}
