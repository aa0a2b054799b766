internal import StrataCore
internal import StrataLoop
internal import Tracing

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
