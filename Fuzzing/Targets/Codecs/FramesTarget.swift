import StrataCore

/// The frame decoder, fed with chunks whose sizes the input chooses, under small limits. It must
/// return the frames that a plain decoder returns, and keep no more than an unfinished frame. It
/// must have its slack after each header.
enum FramesTarget {
    /// A frame, or the error that ended the connection.
    private enum Event: Equatable {
        case frame(header: [UInt8], body: [UInt8])
        case error(FrameError)
    }

    /// The number of chunks that are as short as the input says. Later chunks are longer.
    private static let mostTurns = 200

    static func run(_ input: inout InputReader) throws(FuzzFinding) {
        let frames: [UInt32] = [4, 16, 64, 1_024, 65_536, 70_000, 140_000, 400_000]
        let headers: [UInt32] = [0, 8, 64, 16_384]
        let limits = FrameLimits(
            frame: frames[input.choice(frames.count)], header: headers[input.choice(headers.count)])
        let pieces = (0..<(1 + input.choice(8))).map { _ in input.short() }
        let putBackEach = input.choice(8)
        let stream = stream(&input)

        let expected = plainly(stream, limits)
        let whole = try assembled(stream, limits, pieces: [.max], putBackEach: 0)
        try demand(whole == expected, "whole, the bytes are other frames than they should be")
        let inPieces = try assembled(stream, limits, pieces: pieces, putBackEach: putBackEach)
        try demand(inPieces == expected, "in pieces, the bytes are other frames than whole")
    }

    /// Makes a stream from the input: bytes as they are, runs of one byte, and frames with true
    /// lengths. So a small input makes frames of any size.
    private static func stream(_ input: inout InputReader) -> [UInt8] {
        var stream: [UInt8] = []
        while !input.isAtEnd, stream.count < 512 << 10 {
            let count = Int(input.byte())
            switch count {
            case 0..<128: stream += input.bytes(count)
            case 128..<192: stream += [UInt8](repeating: input.byte(), count: 4 * input.short())
            default:
                let (header, body) = (Int(input.byte()), (count - 192) * 64 + input.short())
                stream += bigEndian(4 + header + body) + bigEndian(header)
                stream += [UInt8](repeating: UInt8(truncatingIfNeeded: count), count: header + body)
            }
        }
        return stream
    }

    private static func bigEndian(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    /// Decodes as section 2 of the protocol says, with all bytes available.
    private static func plainly(_ stream: [UInt8], _ limits: FrameLimits) -> [Event] {
        var events: [Event] = []
        var position = 0
        func number(_ place: Int) -> UInt32 { stream[place..<(place + 4)].reduce(0) { $0 << 8 | UInt32($1) } }
        while position + 4 <= stream.count {
            let frame = number(position)
            if frame < 4 { return events + [.error(.contradiction(frame: frame, header: 0))] }
            if frame > limits.frame { return events + [.error(.frameTooLarge(frame, limit: limits.frame))] }
            guard position + 8 <= stream.count else { break }
            let header = number(position + 4)
            if header > frame - 4 { return events + [.error(.contradiction(frame: frame, header: header))] }
            if header > limits.header { return events + [.error(.headerTooLarge(header, limit: limits.header))] }
            let end = position + 4 + Int(frame)
            guard end <= stream.count else { break }
            let middle = position + 8 + Int(header)
            events.append(
                .frame(header: Array(stream[(position + 8)..<middle]), body: Array(stream[middle..<end])))
            position = end
        }
        return events
    }

    /// Returns the decoder's events when it is fed as the broker feeds it.
    private static func assembled(
        _ stream: [UInt8], _ limits: FrameLimits, pieces: [Int], putBackEach: Int
    ) throws(FuzzFinding) -> [Event] {
        let shared = ReadBuffer()
        var assembler = FrameAssembler(limits: limits)
        var events: [Event] = []
        var (position, turn) = (0, 0)
        while position < stream.count {
            let space = assembler.space(in: shared)
            try demand(!space.isEmpty, "there is no space for a turn")
            // A turn copies up to 64 KiB, however short its chunk is.
            let piece = turn < mostTurns ? max(1, pieces[turn % pieces.count]) : .max
            let count = min(piece, space.count, stream.count - position)
            copy(stream, &position, count, to: space)
            assembler.received(count)
            if count == space.count, position < stream.count, let rest = assembler.spaceForRest() {
                let more = min(rest.count, stream.count - position)
                copy(stream, &position, more, to: rest)
                assembler.received(more)
            }
            turn += 1
            do {
                try drain(&assembler, &events, putsBack: putBackEach > 0 && turn % putBackEach == 0)
            } catch {
                events.append(.error(error))
                assembler.drop()
                try demand(assembler.isEmpty, "something is kept of what was dropped")
                return events
            }
            assembler.keepRest()
            try demand(
                assembler.keptCount < max(8, 4 + Int(limits.frame)),
                "\(assembler.keptCount) bytes are kept of an unfinished frame of at most \(limits.frame)")
        }
        return events
    }

    private static func copy(
        _ stream: [UInt8], _ position: inout Int, _ count: Int, to space: UnsafeMutableRawBufferPointer
    ) {
        space.copyBytes(from: stream[position..<(position + count)])
        position += count
    }

    /// Takes all frames of a turn. If asked to, first gives one back, as the broker does when it
    /// stops reading a peer.
    private static func drain(
        _ assembler: inout FrameAssembler, _ events: inout [Event], putsBack: Bool
    ) throws(FrameError) {
        if putsBack, let frame = try assembler.next() {
            assembler.putBack(frame)
            assembler.keepRest()
            assembler.resume()
        }
        while let frame = try assembler.next() {
            if let end = frame.header.baseAddress.map({ $0 + frame.header.count }) {
                // Reads the slack, so that AddressSanitizer checks it.
                slack = (0..<ReadBuffer.slack).reduce(0) { $0 ^ (end + $1).load(as: UInt8.self) }
            }
            events.append(.frame(header: Array(frame.header), body: Array(frame.body)))
        }
    }

    /// The bytes after the last header, kept so that they are really read.
    nonisolated(unsafe) private static var slack: UInt8 = 0  // because one thread at a time runs a target
}
