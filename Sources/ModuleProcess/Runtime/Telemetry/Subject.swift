internal import StrataCore
internal import StrataLoop
internal import Tracing

/// The subject of a request or a notification, as labels and spans name it. It consists of names
/// from contracts, never of what a message contains.
struct Subject: Hashable {
    enum Kind: String {
        case call, stream, open, broadcast, report, event
    }

    var kind: Kind
    /// `Interface/action` without an instance's number, or the name of a notification or an event;
    /// empty for an open.
    var name: String

    /// The name that stands for all names beyond the limit.
    static let other = "other"

    init(_ kind: Kind, _ name: String) {
        self.kind = kind
        self.name = name
    }

    /// Creates the subject of a request.
    /// - Parameter destination: `Interface/action` or `Interface#INSTANCE/action`.
    init(_ kind: Kind, to destination: String) {
        self.kind = kind
        guard let mark = destination.utf8.firstIndex(of: UInt8(ascii: "#")),
            let slash = destination[mark...].utf8.firstIndex(of: UInt8(ascii: "/"))
        else {
            name = destination
            return
        }
        name = "\(destination[..<mark])\(destination[slash...])"
    }

    init(_ outgoing: borrowing Outgoing) {
        switch outgoing.kind {
        case .open: self.init(.open, "")
        case .broadcast: self.init(.broadcast, outgoing.name ?? "")
        case .report: self.init(.report, outgoing.name ?? "")
        default: self.init(outgoing.$extras?.credit == nil ? .call : .stream, to: outgoing.to)
        }
    }

    var interface: String { String(name.prefix { $0 != "/" }) }
    var action: String {
        name.utf8.firstIndex(of: UInt8(ascii: "/")).map { String(name[name.index(after: $0)...]) } ?? ""
    }

    /// Whether it is a notification, which has a name instead of an action.
    var isNotice: Bool { kind == .broadcast || kind == .report }
}

/// The measurement of one request, incoming or outgoing, from its beginning to its end: its metrics
/// and its span. It must be ended once.
@ModuleActor
struct Measurement {
    private let series: Series?
    private let span: RequestSpan?
    private let begun = Loop.nanoseconds

    init(_ series: Series?, _ span: RequestSpan? = nil) {
        self.series = series
        self.span = span
        series?.open?.change(by: 1)
    }

    /// Records that a stream's next element waited for the caller's credit since `start`.
    func waitedForCredit(since start: UInt64) {
        series?.waitedForCredit(nanoseconds: Loop.nanoseconds - start)
    }

    /// Ends the measurement.
    /// - Parameter code: Nil if the request succeeded.
    @inline(__always)
    func ended(_ code: ErrorCode? = nil) {
        if let series {
            series.open?.change(by: -1)
            series.ended(code, nanoseconds: Loop.nanoseconds - begun)
        }
        span?.ended(code)
    }

    func ended(_ error: any Error) {
        switch error {
        case let error as BusError: ended(error.code)
        case let error as ModuleError: ended(error.code)
        case is CancellationError: ended(.cancelled)
        default: ended(.failed)
        }
    }
}

/// The span of a request.
@ModuleActor
final class RequestSpan {
    let span: any Tracing.Span

    init(_ span: any Tracing.Span) { self.span = span }

    func ended(_ code: ErrorCode?) {
        if let code {
            span.attributes["error.type"] = code.rawValue
            span.setStatus(SpanStatus(code: .error, message: code.rawValue))
        }
        span.end()
    }
}
