internal import Glibc

/// A terminal without a person. One side belongs to a process. On the other side a test presses
/// keys and reads the output.
public final class PseudoTerminal {
    /// The path of the process's side, such as `/dev/pts/3`.
    public let path: String
    /// The descriptor of the person's side.
    public private(set) var descriptor: Int32

    /// Opens a terminal with this many columns, and 24 rows.
    public init(columns: UInt16) throws {
        // Swift doesn't see posix_openpt and its siblings, so this does what they do. TIOCSPTLCK
        // unlocks the process's side, and TIOCGPTN returns its number.
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
        // At ctrl-C the kernel sends the signal and then discards the output that nobody has read. A
        // process that answers the signal in between would lose what it says.
        var modes = termios()
        guard tcgetattr(descriptor, &modes) == 0 else { throw TestFailure.system("set up a terminal", errno) }
        modes.c_lflag |= tcflag_t(NOFLSH)
        guard tcsetattr(descriptor, TCSANOW, &modes) == 0 else { throw TestFailure.system("set up a terminal", errno) }
    }

    deinit { close() }

    /// Presses a key.
    public func type(_ key: UInt8) {
        var key = key
        _ = write(descriptor, &key, 1)
    }

    /// Closes the terminal, as if its window were closed. Does nothing the second time.
    public func close() {
        guard descriptor >= 0 else { return }
        Glibc.close(descriptor)
        descriptor = -1
    }

    /// Reads what the process writes, up to the end of its side.
    public func readToEnd() -> String {
        var bytes: [UInt8] = []
        while let more = read() { bytes += more }
        return Self.text(bytes)
    }

    /// Reads what the process has written since the last read, and waits until there is
    /// something. Returns nil at the end of its side.
    func read() -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: 4_096)
        // At a terminal's end, reading fails with EIO.
        let count = Glibc.read(descriptor, &chunk, chunk.count)
        return count <= 0 ? nil : Array(chunk[..<count])
    }

    /// Returns the text that a person can still read.
    ///
    /// A terminal ends lines with an additional carriage return. A program takes back a line,
    /// such as a progress line, by erasing it from its start. Whether such a line was visible
    /// depends on the machine's speed, so it is left out.
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
