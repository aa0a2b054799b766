internal import StrataCore

/// A request that the task of a handler or of background work makes itself, while there is a connection:
/// the usual case.
///
/// It needs no handler of its own for the task's cancellation, which takes 1,100 instructions: whoever
/// cancels that task cancels what its scope awaits.
///
/// `ModuleRuntime.request` calls these where its caller is isolated to the actor. They lack the isolation that
/// they were checked with, as the code in `ModuleActor.assumeIsolated` does, but have no memory for captures,
/// which takes 330 instructions each time.
enum OwnRequest {
    /// Begins a request, and returns its scope; nil if the request needs more.
    static let begin = unsafeBitCast(
        { (runtime, outgoing) in
            guard let session = runtime.connection.session, outgoing.$extras?.lease == nil,
                let scope = CallScope.current, scope.isInOwnTask
            else { return nil }
            var measurement: Measurement?
            if let telemetry = runtime.telemetry {
                guard telemetry.tracing == nil, outgoing.kind == .call, let metrics = telemetry.metrics else {
                    return nil
                }
                measurement = Measurement(metrics.requests[call: outgoing.to])
            }
            scope.awaits(AwaitedRequest(session: session, id: session.takeID(), measurement: measurement))
            return scope
        } as @ModuleActor (ModuleRuntime, Outgoing) -> CallScope?,
        to: (@Sendable (ModuleRuntime, Outgoing) -> CallScope?).self)

    /// Sends it; the continuation gets the answer.
    static let send = unsafeBitCast(
        { (scope, outgoing, body, continuation) in
            scope.awaited?.session.request(outgoing, body, scope, scope.awaited?.id ?? 0, continuation)
        } as @ModuleActor (CallScope, Outgoing, Body, UnsafeContinuation<[UInt8], any Error>) -> Void,
        to: (@Sendable (CallScope, Outgoing, Body, UnsafeContinuation<[UInt8], any Error>) -> Void).self)

    /// Ends it, with an error or without.
    static let end = unsafeBitCast(
        { (runtime, scope, error) in
            scope.resumed()
            if let error {
                scope.awaited?.measurement?.ended(error)
            } else {
                scope.awaited?.measurement?.ended()
                if !runtime.releases.isEmpty { runtime.releaseMore() }
            }
            scope.awaitsNothing()
        } as @ModuleActor (ModuleRuntime, CallScope, (any Error)?) -> Void,
        to: (@Sendable (ModuleRuntime, CallScope, (any Error)?) -> Void).self)
}
