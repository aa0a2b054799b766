internal import Glibc

/// A terminal without a person: what a process sees, and the side on which
/// keys are pressed and its output is read.
public final class PseudoTerminal {
    /// The process's side, such as `/dev/pts/3`.
    public let path: String
    /// The person's side.
    public private(set) var descriptor: Int32

    /// Opens one of so many columns, and 24 rows.
    public init(columns: UInt16) throws {
        // posix_openpt and its like are hidden from Swift; these are what they
        // do: TIOCSPTLCK unlocks the process's side, TIOCGPTN tells its number.
        descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (locked, number): (Int32, Int32) = (0, 0)
        guard descriptor >= 0, ioctl(descriptor, 0x4004_5431, &locked) == 0,
            ioctl(descriptor, 0x8004_5430, &number) == 0
        else { throw TestFailure.system("open a terminal", errno) }
        path = "/dev/pts/\(number)"
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        guard ioctl(descriptor, UInt(TIOCSWINSZ), &size) == 0 else {
            throw TestFailure.system("size a terminal", errno)
        }
    }

    deinit { close() }

    /// Presses a key.
    public func type(_ key: UInt8) {
        var key = key
        _ = write(descriptor, &key, 1)
    }

    /// As if its window were closed; twice is once.
    public func close() {
        guard descriptor >= 0 else { return }
        Glibc.close(descriptor)
        descriptor = -1
    }

    /// What the process wrote, up to the end of its side.
    public func readToEnd() -> String {
        var bytes: [UInt8] = []
        while let more = read() { bytes += more }
        return Self.text(bytes)
    }

    /// What the process has written since; waits until there is something. Nil at
    /// the end of its side.
    func read() -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: 4_096)
        // A terminal's end is EIO.
        let count = Glibc.read(descriptor, &chunk, chunk.count)
        return count <= 0 ? nil : Array(chunk[..<count])
    }

    /// What a person can still read. A terminal ends lines with a carriage return,
    /// too; and a program takes back a line, such as one of progress, by erasing it
    /// from its start: whether it was shown hangs on the machine's speed.
    static func text(_ bytes: [UInt8]) -> String {
        let erasing = Array("\r\u{1B}[K".utf8)
        var shown: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.first {
            if rest.starts(with: erasing) {
                shown.removeSubrange(((shown.lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1)...)
                rest.removeFirst(erasing.count)
            } else {
                if byte != UInt8(ascii: "\r") { shown.append(byte) }
                rest.removeFirst()
            }
        }
        return String(decoding: shown, as: UTF8.self)
    }
}
