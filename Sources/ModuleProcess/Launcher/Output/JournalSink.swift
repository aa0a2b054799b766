import Glibc
import StrataCore
import StrataLoop
import StrataOperator

/// Writes lines to systemd's journal, so that each has its module as a field: `journalctl
/// STRATA_MODULE=Notes`.
///
/// It uses systemd's "Native Journal Protocol", with one datagram for each entry.
final class JournalSink: LineSink {
    static let standardPath = "/run/systemd/journal/socket"
    /// The most bytes of a line that are kept: the size of a datagram is limited.
    private static let longestLine = 48 << 10

    private let path: String
    private let app: String
    private var dropped = 0

    init(path: String, app: String) {
        self.path = path
        self.app = app
    }

    /// Returns the journal if the service manager connected the descriptor to it; nil otherwise.
    /// - Parameter environment: Contains JOURNAL_STREAM, the device and the inode of the
    ///   descriptor.
    static func connected(
        _ descriptor: Int32, app: String, _ environment: [String: String], path: String = standardPath
    ) -> JournalSink? {
        let numbers = (environment["JOURNAL_STREAM"] ?? "").split(separator: ":").compactMap { UInt64($0) }
        var status = stat()
        guard numbers.count == 2, fstat(descriptor, &status) == 0, UInt64(status.st_dev) == numbers[0],
            UInt64(status.st_ino) == numbers[1], SocketAddress.isSocket(path)
        else { return nil }
        return JournalSink(path: path, app: app)
    }

    func write(line: [UInt8]) { write(of: nil, isOutput: false, .info, line, line: line) }

    func write(
        of name: String?, isOutput: Bool, _ severity: Severity, _ text: [UInt8], line: @autoclosure () -> [UInt8]
    ) {
        if dropped > 0,
            send(nil, false, .warning, Array("\(dropped) lines were dropped here: the journal took no more".utf8))
        {
            dropped = 0
        }
        if !send(name, isOutput, severity, text) { dropped += 1 }
    }

    private func send(_ name: String?, _ isOutput: Bool, _ severity: Severity, _ text: [UInt8]) -> Bool {
        var entry: [UInt8] = []
        Self.add("PRIORITY", Array("\(severity.rawValue)".utf8), to: &entry)
        Self.add("SYSLOG_IDENTIFIER", Array((name.map { "\(app)/\($0)" } ?? app).utf8), to: &entry)
        Self.add("STRATA_APP", Array(app.utf8), to: &entry)
        if let name { Self.add("STRATA_MODULE", Array(name.utf8), to: &entry) }
        if isOutput { Self.add("STRATA_OUTPUT", Array("1".utf8), to: &entry) }
        Self.add("MESSAGE", Array(text.prefix(Self.longestLine)), to: &entry)
        return SocketAddress.send(datagram: entry, to: path) == 0
    }

    /// Adds a field: as a line, or with its length if the value itself contains a line break.
    private static func add(_ name: String, _ value: [UInt8], to entry: inout [UInt8]) {
        entry += name.utf8
        if value.contains(UInt8(ascii: "\n")) {
            entry.append(UInt8(ascii: "\n"))
            withUnsafeBytes(of: UInt64(value.count).littleEndian) { entry += $0 }
        } else {
            entry.append(UInt8(ascii: "="))
        }
        entry += value
        entry.append(UInt8(ascii: "\n"))
    }
}
