internal import Glibc
internal import Strata

/// A file that holds a request's number, and goes with the request as a descriptor. It has no name
/// any more, but the system still shows the one that it had (`/proc/PID/fd`).
enum NumberFile {
    static func make(_ number: UInt64, in folder: String) throws -> Descriptor {
        // mkstemp puts letters in place of each X.
        var path = Array("\(folder)/\(prefix)XXXXXX".utf8CString)
        let descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw ModuleError(.failed, "can't make a file in \(folder): errno \(errno)") }
        unlink(path)
        let digits = Array("\(number)".utf8)
        guard write(descriptor, digits, digits.count) == digits.count else {
            close(descriptor)
            throw ModuleError(.failed, "can't write a number: errno \(errno)")
        }
        return Descriptor(descriptor)
    }

    /// Returns the number in such a file; nil if there is none.
    static func number(in file: Descriptor?) -> UInt64? {
        guard let file else { return nil }
        var digits = [UInt8](repeating: 0, count: 24)
        let count = pread(file.number, &digits, digits.count, 0)
        return count > 0 ? UInt64(String(decoding: digits[..<count], as: UTF8.self)) : nil
    }

    /// The beginning of their names.
    private static let prefix = "number-"
}
