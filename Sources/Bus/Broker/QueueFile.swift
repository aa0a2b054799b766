internal import Glibc
import StrataCore
import StrataLoop

/// The file of the bytes that wait in a broker's queues. They are written to it straight from
/// memory. The next program maps it, and its frames refer to the mapping.
struct QueueFile: ~Copyable {
    /// The most buffers in one system call, which is Linux's limit.
    private static let mostPieces = 1_024

    /// The file that is written; -1 if there is none.
    private var descriptor: Int32 = -1
    private(set) var mapped: MappedFile?
    private var end = 0

    // MARK: writing

    /// - Returns: the offset at which the bytes begin.
    mutating func append(_ bytes: WaitingBytes) throws(StateError) -> Int {
        if descriptor < 0 {
            do throws(SystemError) { descriptor = try MemoryFile.makeSealable("strata-queues") } catch {
                throw StateError("can't make a file for what waits: \(error)")
            }
        }
        let start = end
        let failure = bytes.withPieces { pieces in write(pieces) }
        if let failure { throw failure }
        return start
    }

    private mutating func write(_ pieces: [UnsafeRawBufferPointer]) -> StateError? {
        var index = 0
        // The bytes of the buffer at `index` that are already written.
        var isWritten = 0
        while index < pieces.count {
            var parts = pieces[index..<min(pieces.count, index + Self.mostPieces)].map {
                iovec(iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: $0.count)
            }
            // The last write may have ended within a buffer.
            parts[0].iov_base = parts[0].iov_base.map { $0 + isWritten }
            parts[0].iov_len -= isWritten
            let count = writev(descriptor, parts, Int32(parts.count))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return StateError("what waits can't be written: errno \(errno)") }
            end += count
            isWritten += count
            while index < pieces.count, isWritten >= pieces[index].count {
                isWritten -= pieces[index].count
                index += 1
            }
        }
        return nil
    }

    /// Seals the file, to which nothing more is written.
    func seal() throws(StateError) -> Int32 {
        guard descriptor >= 0 else { return -1 }
        do throws(SystemError) { try MemoryFile.sealSize(descriptor) } catch {
            throw StateError("what waits can't be sealed: \(error)")
        }
        return descriptor
    }

    func close() { if descriptor >= 0 { Glibc.close(descriptor) } }

    // MARK: reading

    /// - Parameter descriptor: the file; remains the caller's; -1 if there is none.
    mutating func map(_ descriptor: Int32) throws(StateError) {
        guard descriptor >= 0 else { return }
        do throws(SystemError) { mapped = try MappedFile(descriptor) } catch {
            throw StateError("what waits can't be read: \(error)")
        }
    }

    func bytes(from start: Int, _ count: Int) throws(StateError) -> UnsafeRawBufferPointer {
        guard let mapped, start >= 0, count >= 0, count <= mapped.bytes.count, start <= mapped.bytes.count - count
        else { throw StateError.truncated }
        return UnsafeRawBufferPointer(rebasing: mapped.bytes[start..<start + count])
    }
}
