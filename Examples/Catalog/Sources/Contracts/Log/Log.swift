public import Strata

/// Keeps the lines that the other modules report.
public enum Log: Interface {
    public static let name = "Log"
    public static let version: ContractVersion? = "1.2"
    public static let members: [any InterfaceMember.Type] = [Recent.self, Echo.self, LogLine.self, LogWarning.self]

    /// The newest lines, the oldest of them first.
    public struct Recent: Action {
        public static let name = action("recent")
        public static let errors: KeyValuePairs<String, String> = ["Log.no-file": "The log can't be read."]
        public typealias Reply = [String]
        /// How many are wanted; 20 by default.
        public var limit: Int?

        public init(limit: Int? = nil) { self.limit = limit }
    }

    /// Whether each line is also written to the module's output, which the app's terminal shows.
    public enum Echo: SettableProperty {
        public static let name = property("echo")
        public typealias Value = Bool
    }
}

/// A line for the log.
public struct LogLine: Report {
    public static let name = "log.line"
    public var text: String

    public init(_ text: String) { self.text = text }
}

/// A line for the log, about something that somebody should look at.
public struct LogWarning: Report {
    public static let name = "log.warning"
    public var text: String

    public init(_ text: String) { self.text = text }
}
