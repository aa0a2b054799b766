import Glibc
import StrataReplay

/// Reads a recording.
enum RecordingInput {
    /// - Throws: `usage` if the file isn't a recording.
    static func read(_ path: String, of module: String) throws(Failure) -> ModuleRecording {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var (recording, reader, others) = (ModuleRecording(of: module), CaptureReader(), 0)
        while let piece = try nextPiece(descriptor, path) {
            reader.add(piece)
            do throws(CaptureReader.Failure) {
                while let packet = try reader.nextPacket() {
                    if !recording.add(packet) { others += 1 }
                }
            } catch {
                throw Failure(.usage, "\(path) isn't a recording of strata record: \(error.description)")
            }
        }
        if reader.isCut { StandardError.write("\(path) ends within a packet, which is left out") }
        if others > 0 { StandardError.write("\(path): \(others) packets are no frames of a bus") }
        return recording
    }

    /// Returns the next bytes; nil at the end.
    private static func nextPiece(_ descriptor: Int32, _ path: String) throws(Failure) -> ArraySlice<UInt8>? {
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(path) }
            return count == 0 ? nil : chunk[..<count]
        }
    }

    private static func failure(_ path: String) -> Failure {
        Failure(.usage, "\(path) can't be read: \(String(cString: strerror(errno)))")
    }
}
