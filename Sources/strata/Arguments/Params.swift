import Glibc
import StrataCore

/// The JSON that a command was given to send.
enum Params {
    /// Judges the argument; `-` is read from stdin. Its bytes are sent as they
    /// are, so that numbers stay as they were written.
    /// - Returns: Nothing for null, which is the default.
    static func read(_ argument: String?) throws(Failure) -> [UInt8] {
        guard let argument else { return [] }
        let bytes = argument == "-" ? try standardInput() : Array(argument.utf8)
        do {
            _ = try JSON(parsing: bytes, maximumDepth: JSONText.maximumDepth)
        } catch {
            let origin = argument == "-" ? "on stdin are" : "are"
            throw Failure(
                .usage, "the params \(origin) not JSON, at byte \(error.offset): \(error.message)" + hint(bytes, error))
        }
        return bytes
    }

    /// The params and a mark below the place, where they are a short line.
    private static func hint(_ bytes: [UInt8], _ error: JSONError) -> String {
        guard (1...70).contains(bytes.count), bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else { return "" }
        let text = String(decoding: bytes, as: UTF8.self)
        return "\n  \(text)\n  \(String(repeating: " ", count: min(error.offset, bytes.count)))^"
    }

    private static func standardInput() throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(STDIN_FILENO, &piece, piece.count)
            if count == 0 { return bytes }
            if count > 0 {
                bytes.append(contentsOf: piece[..<count])
            } else if errno != EINTR {
                throw Failure(.usage, "the params can't be read from stdin: \(String(cString: strerror(errno)))")
            }
        }
    }
}
