import Glibc
import StrataCore
import StrataLoop
import StrataTesting
import Testing

/// A pipe whose writing end goes over the bus. Reading shows whether it still works, and its end
/// shows that every copy of the writing end is closed.
final class Token {
    private let reading: Int32
    private(set) var writing: Int32

    init() throws {
        let ends = try Pipe()
        (reading, writing) = (ends.reading, ends.writing)
    }

    deinit {
        close(reading)
        letGo()
    }

    /// Closes this test's own writing end.
    func letGo() {
        if writing >= 0 { close(writing) }
        writing = -1
    }

    /// Whether something that is written to a descriptor comes out of this pipe.
    func isSame(as descriptor: Int32) -> Bool {
        var byte: UInt8 = 7
        return write(descriptor, &byte, 1) == 1 && wait(for: POLLIN) && read(reading, &byte, 1) == 1
    }

    /// Whether all copies of the writing end are closed, or soon will be.
    func isClosed() -> Bool {
        letGo()
        return wait(for: POLLHUP)
    }

    private func wait(for event: Int32) -> Bool {
        var wanted = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        let patience = Int32(TestBus.patience.components.seconds * 1_000)
        return poll(&wanted, 1, patience) == 1 && Int32(wanted.revents) & event != 0
    }
}

extension RawPeer {
    /// Sends a frame with descriptors.
    func send(_ header: JSON, _ body: JSON? = nil, with tokens: [Token]) throws {
        let named: JSON = .object((header.object ?? []) + [.init("descriptors", .integer(Int64(tokens.count)))])
        try sendAsIs(named, body, with: tokens)
    }

    /// Sends a frame as it is, and descriptors with its first byte.
    func sendAsIs(_ header: JSON, _ body: JSON? = nil, with tokens: [Token]) throws {
        try send(bytes: FrameBytes.frame(header, body: body), with: tokens)
    }

    /// Sends bytes, and descriptors with the first one.
    func send(bytes: [UInt8], with tokens: [Token]) throws {
        let sent = send(bytes: bytes, with: tokens.map(\.writing))
        try #require(sent > 0, "\(label) can't send descriptors: errno \(-sent)")
        try send(bytes: Array(bytes[sent...]))
    }

    @discardableResult
    func call(_ to: String, _ body: JSON? = nil, with tokens: [Token]) throws -> UInt64 {
        let id = newID()
        try send(["kind": "call", "id": .integer(Int64(id)), "to": .string(to)], body, with: tokens)
        return id
    }
}

extension TestBus {
    /// Connects another operator, which takes descriptors, or bodies in files.
    func takingOperator(_ what: String = "descriptors") throws -> RawPeer {
        let peer = try connect("a tool")
        let taking: JSON = .object([.init(what, true)])
        try peer.asked("bus/hello", (["protocol": 1, "role": "operator"] as JSON).with(taking))
        return peer
    }

    /// The number of the broker's open descriptors.
    func openDescriptors() throws -> Int { try entries("fd") }

    /// The number of the broker's threads. One that closes descriptors ends when none is left to close.
    func threads() throws -> Int { try entries("task") }

    private func entries(_ folder: String) throws -> Int {
        let pid = try #require(brokerPID)
        let stream = try #require(opendir("/proc/\(pid)/\(folder)"))
        defer { closedir(stream) }
        var count = 0
        while readdir(stream) != nil { count += 1 }
        return count
    }
}

extension ReceivedFrame {
    /// Closes its descriptors.
    func closeDescriptors() { for descriptor in descriptors { close(descriptor) } }

    /// Whether its descriptors are the pipes' ends; closes them.
    func has(_ tokens: [Token]) -> Bool {
        defer { closeDescriptors() }
        return descriptors.count == tokens.count && zip(tokens, descriptors).allSatisfy { $0.isSame(as: $1) }
    }
}
