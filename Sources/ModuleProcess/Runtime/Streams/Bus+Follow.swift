public import StrataCore

/// What a reader may not have seen before an element of a stream that it follows.
public struct StreamGap: Sendable {
    /// The number of elements that the provider left out, because this reader was slow.
    public let missed: Int
    /// Why the stream before ended, if it was begun anew since the last element; else nil. What the
    /// provider sent in between may be missing.
    public let error: BusError?
}

extension Bus {
    /// Reads a stream, and begins it anew when it ends before its end: when the provider dies or is
    /// replaced, the bus is lost, or this reader is too slow.
    ///
    /// It begins anew at once, then after pauses of 10 ms that double up to 1 s, until an element comes.
    /// A stream that doesn't end by itself belongs into `background`, because a handler's stream ends
    /// with the handler's call.
    /// - Parameters:
    ///   - action: The action's parameters.
    ///   - credit: As for `stream`.
    ///   - auth: As for `stream`.
    ///   - meta: As for `stream`.
    ///   - perform: Takes each element, and what may be missing before it; nil if nothing is. An error
    ///     that it throws ends the stream.
    /// - Throws: What `perform` throws, and the stream's error unless that is `died`, `unavailable`,
    ///   `replaced` or `overloaded`. Returns at the stream's end.
    public func follow<A: StreamingAction>(
        _ action: A, credit: Int = ReplyStream<A.Element>.defaultCredit, auth: Authorization = .asked,
        meta: JSON? = nil, perform: @escaping @ModuleActor (A.Element, StreamGap?) async throws -> Void
    ) async throws {
        try await follow(perform) { try self.stream(action, credit: credit, auth: auth, meta: meta) }
    }

    /// Follows a stream whose gaps don't matter: each element says all.
    public func follow<A: StreamingAction>(
        _ action: A, credit: Int = ReplyStream<A.Element>.defaultCredit, auth: Authorization = .asked,
        meta: JSON? = nil, perform: @escaping @ModuleActor (A.Element) async throws -> Void
    ) async throws {
        try await follow(action, credit: credit, auth: auth, meta: meta) { element, _ in try await perform(element) }
    }

    /// Follows a stream without a contract.
    public func follow(
        _ destination: String, _ params: JSON = nil, credit: Int = ReplyStream<JSON>.defaultCredit,
        auth: Authorization = .asked, meta: JSON? = nil,
        perform: @escaping @ModuleActor (JSON, StreamGap?) async throws -> Void
    ) async throws {
        try await follow(perform) { try self.stream(destination, params, credit: credit, auth: auth, meta: meta) }
    }

    private func follow<Element>(
        _ perform: @ModuleActor (Element, StreamGap?) async throws -> Void,
        _ begin: @ModuleActor () throws -> ReplyStream<Element>
    ) async throws {
        var last: BusError?
        var pause = 0
        while true {
            do {
                var iterator = try await Self.interruptible { try begin().makeAsyncIterator() }
                while let element = try await Self.interruptible({
                    try await iterator.next(isolation: ModuleActor.shared)
                }) {
                    let gap = StreamGap(missed: iterator.missed, error: last)
                    (last, pause) = (nil, 0)
                    try await perform(element, gap.missed > 0 || gap.error != nil ? gap : nil)
                }
                return
            } catch let interruption as Interruption {
                last = interruption.error
            }
            if pause > 0 { try await sleep(milliseconds: pause) }
            try Task.checkCancellation()
            pause = min(max(10, pause * 2), 1_000)
        }
    }

    /// The end of a stream that may be begun anew. A type of its own, because the reader's closure may
    /// throw the same error for another reason.
    private struct Interruption: Error { var error: BusError }

    private static let passing: Set<ErrorCode> = [.died, .unavailable, .replaced, .overloaded]

    private static func interruptible<Result>(_ work: @ModuleActor () async throws -> Result) async throws -> Result {
        do { return try await work() } catch let error as BusError where passing.contains(error.code) {
            throw Interruption(error: error)
        }
    }
}
