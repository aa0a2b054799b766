internal import StrataCore
internal import StrataLoop
internal import Tracing

/// What a request or a notification is about, as labels and spans name it:
/// names of contracts, never what somebody wrote into a message.
struct Subject: Hashable {
    enum Kind: String {
        case call, stream, open, broadcast, report, event
    }

    var kind: Kind
    /// `Interface/action`, without an instance's number; a notification's or an
    /// event's name; empty for an open.
    var name: String

    /// What stands for a name that there is no room for.
    static let other = "other"

    init(_ kind: Kind, _ name: String) {
        self.kind = kind
        self.name = name
    }

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
        default: self.init(outgoing.credit == nil ? .call : .stream, to: outgoing.to)
        }
    }

    var interface: String { String(name.prefix { $0 != "/" }) }
    var action: String {
        name.utf8.firstIndex(of: UInt8(ascii: "/")).map { String(name[name.index(after: $0)...]) } ?? ""
    }

    /// Whether it is a notification, which has a name instead of an action.
    var isNotice: Bool { kind == .broadcast || kind == .report }
}

/// One request, of this side or of another's, from its beginning to its end:
/// what is told of it to who measures and traces. Ended once.
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

    /// A stream's next element had to wait since then for its caller.
    func waitedForCredit(since start: UInt64) {
        series?.waitedForCredit(nanoseconds: Loop.nanoseconds - start)
    }

    /// It is over.
    /// - Parameter code: nil where it ended well.
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
