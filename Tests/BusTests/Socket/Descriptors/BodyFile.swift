import CUV
import Glibc
import StrataCore
import StrataLoop
import StrataTesting
import Testing

/// A file in memory that holds a body, and goes over the bus in its place.
final class BodyFile {
    static let sealed: Int32 = 0x2 | 0x4 | 0x8

    let bytes: [UInt8]
    let descriptor: Int32

    /// - Parameters:
    ///   - bytes: what is written.
    ///   - seals: F_SEAL_… of the file; all that a body needs by default.
    ///   - holes: bytes behind these that aren't written.
    init(_ bytes: [UInt8], seals: Int32 = BodyFile.sealed, holes: Int = 0) throws {
        self.bytes = bytes + [UInt8](repeating: 0, count: holes)
        descriptor = try MemoryFile.makeSealable("test")
        try #require(write(descriptor, bytes, bytes.count) == bytes.count)
        try #require(ftruncate(descriptor, self.bytes.count) == 0)
        if seals != 0 { try #require(strata_add_seals(descriptor, seals) == 0) }
    }

    deinit { close(descriptor) }

    /// Whether a descriptor is of the same file.
    func isSame(as other: Int32) -> Bool {
        var (own, its) = (stat(), stat())
        return fstat(descriptor, &own) == 0 && fstat(other, &its) == 0 && own.st_ino == its.st_ino
            && own.st_dev == its.st_dev
    }
}

extension RawPeer {
    /// Sends a frame whose body is in a file.
    func send(_ header: JSON, in file: BodyFile) throws {
        try send(header.with(["memory": .integer(Int64(file.bytes.count))]), descriptor: file.descriptor)
    }

    /// Sends a frame as it is, and a descriptor with its first byte.
    func send(_ header: JSON, _ body: JSON? = nil, descriptor: Int32) throws {
        let bytes = FrameBytes.frame(header, body: body)
        let sent = send(bytes: bytes, with: [descriptor])
        try #require(sent > 0, "\(label) can't send a file: errno \(-sent)")
        try send(bytes: Array(bytes[sent...]))
    }

    func call(_ to: String, in file: BodyFile) throws -> UInt64 {
        let id = newID()
        try send(["kind": "call", "id": .integer(Int64(id)), "to": .string(to)], in: file)
        return id
    }

    func reply(to call: ReceivedFrame, in file: BodyFile) throws {
        try send(["kind": "reply", "id": call.number], in: file)
    }
}

extension ReceivedFrame {
    /// Whether its body came in this file, and nothing else did; closes the descriptor.
    func isIn(_ file: BodyFile) -> Bool {
        defer { closeDescriptors() }
        return descriptors.count == 1 && file.isSame(as: descriptors[0]) && body.isEmpty
            && self["memory"]?.integer == Int64(file.bytes.count) && self["descriptors"] == nil
    }

    /// Whether its body came in the frame.
    func holds(_ file: BodyFile) -> Bool {
        descriptors.isEmpty && self["memory"] == nil && body == file.bytes
    }
}

extension TestBus {
    /// The number of the broker's open files in memory.
    func openMemoryFiles() throws -> Int {
        let folder = "/proc/\(try #require(brokerPID))/fd"
        let stream = try #require(opendir(folder))
        defer { closedir(stream) }
        var count = 0
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            var link = [UInt8](repeating: 0, count: 64)
            let length = link.withUnsafeMutableBytes {
                readlink("\(folder)/\(name)", $0.baseAddress!, $0.count)  // because it has bytes
            }
            if length > 0, String(decoding: link[..<length], as: UTF8.self).hasPrefix("/memfd:") { count += 1 }
        }
        return count
    }
}
