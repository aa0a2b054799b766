internal import StrataCore
internal import Tracing

/// One request, of this side or of another's, from its beginning to its end:
/// what is told of it to who measures and traces.
@ModuleActor
final class Measurement {
    let span: (any Tracing.Span)?
    private let metrics: ModuleMetrics?
    private let series: Series?
    private let open: OpenCount?
    private let begun = Loop.nanoseconds
    private var code: ErrorCode?
    private var hasEnded = false

    init(span: (any Tracing.Span)?, _ metrics: ModuleMetrics?, series: Series?, open: OpenCount?) {
        self.span = span
        self.metrics = metrics
        self.series = series
        self.open = open
        open?.change(by: 1)
    }

    /// A stream's next element had to wait since then for its caller.
    func waitedForCredit(since start: UInt64) { metrics?.waitedForCredit(nanoseconds: Loop.nanoseconds - start) }

    /// It ends with this error.
    func failed(_ code: ErrorCode) { self.code = code }

    func failed(_ error: any Error) {
        switch error {
        case let error as BusError: failed(error.code)
        case let error as ModuleError: failed(error.code)
        case is CancellationError: failed(.cancelled)
        default: failed(.failed)
        }
    }

    /// It is over; the second time does nothing.
    func ended() {
        guard !hasEnded else { return }
        hasEnded = true
        open?.change(by: -1)
        series?.ended(code, nanoseconds: Loop.nanoseconds - begun)
        guard let span else { return }
        if let code {
            span.attributes["error.type"] = code.rawValue
            span.setStatus(SpanStatus(code: .error, message: code.rawValue))
        }
        span.end()
    }
}
