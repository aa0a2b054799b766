public import Strata

/// Keeps the lines that the other modules report.
public enum Log: Interface {
    public static let name = "Log"

    /// The newest lines, the oldest of them first.
    public struct Recent: Action {
        public static let name = action("recent")
        public typealias Reply = [String]
        /// 20 where it isn't said.
        public var limit: Int?

        public init(limit: Int? = nil) { self.limit = limit }
    }
}

/// A line for the log.
public struct LogLine: Report {
    public static let name = "log.line"
    public var text: String

    public init(_ text: String) { self.text = text }
}
