internal import Glibc
internal import Synchronization

/// A process's own log: records in a mapped file. What was written survives however the process
/// ends, and a record costs only a few stores.
///
/// Used on one thread.
public final class RecordLog {
    /// The number of the process in this run, from 1. No two processes have the same.
    public let process: UInt32
    public let role: UInt8

    private let descriptor: Int32
    private var piece: UnsafeMutablePointer<Record>
    private var used = 0
    private var pieces = 1

    /// One mapped chunk has 2 MiB.
    static let recordsInPiece = 65_536
    private static let bytesInPiece = recordsInPiece * MemoryLayout<Record>.size
    /// The most chunks, 512 MiB in all. A process that writes more ends.
    private static let mostPieces = 256

    /// Begins the log of this process, which runs on a node, in a folder.
    /// - Parameter replica: the number of the replica that it is; 0 for none.
    public init(folder: String, role: UInt8, node: UInt8, replica: UInt8 = 0) throws(RecordError) {
        var number: UInt32 = 0
        var file: Int32 = -1
        repeat {
            number += 1
            file = open(Self.path(folder, number), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        } while file < 0 && errno == EEXIST && number < Board.places - 1
        guard file >= 0 else { throw RecordError("there is no log in \(folder): errno \(errno)") }
        // The file is sparse and has its full size now. So a later limit on file sizes doesn't
        // end the log.
        guard ftruncate(file, Self.mostPieces * Self.bytesInPiece) == 0 else {
            throw RecordError("there is no room for a log in \(folder): errno \(errno)")
        }
        process = number
        self.role = role
        descriptor = file
        piece = try Self.map(file, 0)
        // The first record is not an event: it names the log's process.
        piece[0] = Record(
            .session, kind: role, code: node, ran: replica, extra: UInt32(getpid()), number: UInt64(number))
        used = 1
    }

    static func path(_ folder: String, _ number: UInt32) -> String { "\(folder)/\(number).log" }

    public func write(_ record: Record) {
        if used == Self.recordsInPiece {
            guard pieces < Self.mostPieces, let next = try? Self.map(descriptor, pieces) else {
                // Because a run whose log has a hole can't be judged.
                fatalError("the log has no room")
            }
            munmap(piece, Self.bytesInPiece)
            piece = next
            pieces += 1
            used = 0
        }
        // Writes the event number last, so that a record that a kill interrupts doesn't count.
        let place = piece + used
        var record = record
        let event = record.eventNumber
        record.eventNumber = 0
        place.pointee = record
        atomicMemoryFence(ordering: .releasing)
        place.pointee.eventNumber = event
        used += 1
    }

    private static func map(_ file: Int32, _ index: Int) throws(RecordError) -> UnsafeMutablePointer<Record> {
        guard let memory = mmap(nil, bytesInPiece, PROT_READ | PROT_WRITE, MAP_SHARED, file, index * bytesInPiece),
            memory != MAP_FAILED
        else { throw RecordError("a log can't grow: errno \(errno)") }
        return memory.assumingMemoryBound(to: Record.self)
    }
}
