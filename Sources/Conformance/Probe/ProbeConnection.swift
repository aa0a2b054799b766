internal import Glibc
import StrataCore

/// A connection of the client, without blocking.
package final class ProbeConnection {
    package private(set) var descriptor: Int32
    /// Whether the client has closed it.
    package private(set) var isAtEnd = false
    private var input: [UInt8] = []
    /// How much of the input has been returned as frames.
    private var taken = 0

    /// The longest frame that is read at all: what `limits.frame` allows, and some more to judge.
    private static let longest = 64 << 20

    package init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close() }

    package func close() {
        guard descriptor >= 0 else { return }
        Glibc.close(descriptor)
        descriptor = -1
        isAtEnd = true
    }

    /// Sends what has room.
    /// - Returns: how many bytes; nil if the client has closed.
    package func send(_ bytes: ArraySlice<UInt8>) -> Int? {
        let count = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        return count >= 0 ? count : errno == EAGAIN || errno == EINTR ? 0 : nil
    }

    /// Sends all bytes, in pieces of this size. What comes meanwhile is read, because a client that is sending itself
    /// may not read.
    package func sendAll(
        _ bytes: [UInt8], pieces: Int = .max, to program: ProbeProgram, in place: KitPlace, until moment: Moment
    ) throws(Finding) {
        var sent = 0
        while sent < bytes.count {
            let end = pieces < bytes.count - sent ? sent + pieces : bytes.count
            guard let count = send(bytes[sent..<end]) else {
                throw Finding("the client closed the connection while the kit sent", in: .session)
            }
            sent += count
            guard count == 0 else { continue }
            guard try place.wait(program, descriptor, Int16(POLLIN | POLLOUT), until: moment) else {
                throw Finding("the client doesn't read")
            }
            read()
        }
    }

    /// Reads what is there.
    package func read() {
        guard !isAtEnd else { return }
        withUnsafeTemporaryAllocation(byteCount: 256 << 10, alignment: 16) { space in
            let count = recv(descriptor, space.baseAddress, space.count, 0)
            if count > 0 {
                input.removeFirst(taken)
                taken = 0
                input.append(contentsOf: space[..<count])
            } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
                isAtEnd = true
            }
        }
    }

    /// Returns the next complete frame; nil if there is none.
    package func nextFrame() throws(Finding) -> ProbeFrame? {
        guard input.count - taken >= 8 else { return nil }
        let (length, header) = (number(at: taken), number(at: taken + 4))
        guard length >= 4, header <= length - 4, length <= Self.longest else {
            throw Finding(
                "a frame whose lengths are \(length) and \(header): send 4 + header + body, then the header's length, "
                    + "both as big-endian 32-bit integers", in: .frame)
        }
        guard input.count - taken >= 4 + length else { return nil }
        let rest = input[taken..<(taken + 4 + length)].dropFirst(8)
        let (head, body) = (Array(rest.prefix(header)), Array(rest.dropFirst(header)))
        taken += 4 + length
        guard let json = try? JSON(parsing: head, maximumDepth: 32) else {
            throw Finding("the header isn't JSON: \(ProbeFrame.shown(head, []))", in: .header)
        }
        return ProbeFrame(headerBytes: head, header: json, body: body)
    }

    private func number(at offset: Int) -> Int {
        input[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }
}
