internal import Glibc

/// The reading end of a child's output.
final class ChildOutput {
    let label: String
    private(set) var descriptor: Int32
    private(set) var isAtEnd = false
    private var bytes: [UInt8] = []
    /// The number of bytes that are kept at least: the last ones.
    private static let kept = 64 << 10

    init(_ descriptor: Int32, label: String) {
        self.descriptor = descriptor
        self.label = label
    }

    deinit { close() }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Reads once. Call it when `poll` reports input.
    func read() {
        guard !isAtEnd else { return }
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { space in
            let count = Glibc.read(descriptor, space.baseAddress, space.count)
            if count > 0 {
                bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: space[..<count]))
                if bytes.count > 2 * Self.kept { bytes.removeFirst(bytes.count - Self.kept) }
            } else if count == 0 || errno != EINTR {
                isAtEnd = true
            }
        }
    }

    /// Waits until the child has closed its output.
    func waitForEnd(_ deadline: Deadline) -> Bool { wait(deadline) { isAtEnd } }

    /// Reads what is there, without waiting.
    func readWhatIsThere() { _ = waitForEnd(Deadline(.zero)) }

    /// Waits for the first line, and returns it. Returns the part that arrived if the child
    /// closes its output first, or the deadline passes.
    func waitForLine(_ deadline: Deadline) -> String {
        _ = wait(deadline) { isAtEnd || bytes.contains(UInt8(ascii: "\n")) }
        return String(text.prefix { $0 != "\n" })
    }

    /// Waits for a line with this beginning, and returns the rest of it; nil if the child closes its
    /// output first, or the deadline passes.
    func waitForLine(after prefix: String, _ deadline: Deadline) -> String? {
        var found: Substring? {
            text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().first { $0.hasPrefix(prefix) }
        }
        _ = wait(deadline) { isAtEnd || found != nil }
        return found.map { String($0.dropFirst(prefix.count)) }
    }

    private func wait(_ deadline: Deadline, until condition: () -> Bool) -> Bool {
        while !condition() {
            var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&wanted, 1, deadline.milliseconds) > 0 else {
                if deadline.hasPassed { return false }
                continue
            }
            read()
        }
        return true
    }

    func close() {
        guard descriptor >= 0 else { return }
        Glibc.close(descriptor)
        descriptor = -1
        isAtEnd = true
    }
}
