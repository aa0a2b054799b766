internal import Glibc
public import Logging

/// Writes log messages to standard error, each line with the mark of its level, as sd-daemon(3) defines it: `<4>`.
///
/// The launcher takes the mark off: `strata logs --level` and the journal know the level. Without a launcher a line
/// begins with the level's name instead. A program chooses it before its module starts:
///
///     LoggingSystem.bootstrap(LauncherLogHandler.init)
///
/// Metadata follows the message as `key=value`. May be used on any thread; a message is one write.
public struct LauncherLogHandler: LogHandler {
    public var logLevel = Logger.Level.info
    public var metadata = Logger.Metadata()
    public var metadataProvider: Logger.MetadataProvider?

    private let label: String
    private let hasLauncher = getenv("STRATA_LIFELINE") != nil

    /// - Parameter label: the logger's, which each line begins with.
    public init(label: String) { self.label = label }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        let all = metadata.merging(metadataProvider?.get() ?? [:]) { $1 }.merging(event.metadata ?? [:]) { $1 }
        let bytes = Array(lines(event.level, "\(event.message)", all, isMarked: hasLauncher).utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }

    /// Returns a message as it is written.
    func lines(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata, isMarked: Bool) -> String {
        var text = "\(label): \(message)"
        for (key, value) in metadata.sorted(by: { $0.key < $1.key }) { text += " \(key)=\(value)" }
        let mark = isMarked ? "<\(Self.severity(level))>" : "\(level): "
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { "\(mark)\($0)\n" }.joined()
    }

    /// The level of syslog.
    private static func severity(_ level: Logger.Level) -> Int {
        switch level {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
