internal import Glibc

/// Lines that are written at once, even into a pipe.
enum FaultConsole {
    static func say(_ line: String) { write(line, to: 1) }
    static func complain(_ line: String) { write(line, to: 2) }

    private static func write(_ line: String, to descriptor: Int32) {
        var bytes = Array((line + "\n").utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }
}
