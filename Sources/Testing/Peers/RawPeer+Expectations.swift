public import StrataCore

/// What a test waits for. Each expectation has a deadline, and reports what came instead.
extension RawPeer {
    /// Expects the next frame to have these members in its header, and these in its body.
    @discardableResult
    public func expect(
        _ header: JSON, body: JSON? = nil, within time: Duration = TestBus.patience, file: StaticString = #fileID,
        line: UInt = #line
    ) throws -> ReceivedFrame {
        let frame = try nextFrame(describe(header, body), time, file, line)
        guard frame.matches(header, body: body) else {
            throw failure("expected \(describe(header, body)), but received\n    \(frame)", file, line)
        }
        return frame
    }

    /// Returns the next frame, whatever it is.
    public func next(
        within time: Duration = TestBus.patience, file: StaticString = #fileID, line: UInt = #line
    ) throws -> ReceivedFrame {
        try nextFrame("a frame", time, file, line)
    }

    /// Returns the next frame. Returns nil if none came in time or the connection has ended;
    /// `hasEnded` says which.
    public func nextIfAny(within time: Duration) throws -> ReceivedFrame? {
        if inbox.isEmpty, !link.isAtEnd { _ = try group.pump(until: group.deadline(time), for: self) }
        return inbox.isEmpty ? nil : inbox.removeFirst()
    }

    /// Whether the connection has ended and all frames from it have been taken.
    public var hasEnded: Bool { link.isAtEnd && inbox.isEmpty }

    /// Waits for the first frame that matches. The frames before it stay in the inbox.
    @discardableResult
    public func find(
        _ header: JSON, body: JSON? = nil, within time: Duration = TestBus.patience, file: StaticString = #fileID,
        line: UInt = #line
    ) throws -> ReceivedFrame {
        let index = try wait(describe(header, body), time, file, line) {
            self.inbox.firstIndex { $0.matches(header, body: body) }
        }
        return inbox.remove(at: index)
    }

    /// Waits for the final answer to a request. The frames before it stay in the inbox.
    public func answer(
        to id: UInt64, within time: Duration = TestBus.patience, file: StaticString = #fileID, line: UInt = #line
    ) throws -> ReceivedFrame {
        let index = try wait("the answer to \(id)", time, file, line) {
            self.inbox.firstIndex { ($0.kind == "reply" || $0.kind == "error") && $0.id == id && !$0.isPartial }
        }
        return inbox.remove(at: index)
    }

    /// Expects a request to be answered with a reply that has these members in its body.
    @discardableResult
    public func expectReply(
        to id: UInt64, body: JSON? = nil, within time: Duration = TestBus.patience, file: StaticString = #fileID,
        line: UInt = #line
    ) throws -> ReceivedFrame {
        let frame = try answer(to: id, within: time, file: file, line: line)
        guard frame.matches(["kind": "reply"], body: body) else {
            throw failure(
                "expected \(describe(["kind": "reply", "id": id.json], body)), but received\n    \(frame)", file, line)
        }
        return frame
    }

    /// Expects a request to be answered with an error of this code and, unless nil, this `ran`.
    @discardableResult
    public func expectError(
        to id: UInt64, _ code: String, ran: String? = nil, within time: Duration = TestBus.patience,
        file: StaticString = #fileID, line: UInt = #line
    ) throws -> ReceivedFrame {
        let frame = try answer(to: id, within: time, file: file, line: line)
        guard frame.kind == "error", frame.code == code, ran == nil || frame.ran == ran else {
            let wanted = "the error \(code)\(ran.map { ", ran \($0)," } ?? "") to \(id)"
            throw failure("expected \(wanted), but received\n    \(frame)", file, line)
        }
        return frame
    }

    /// Expects the next frame to be an error without an id, which doesn't end the connection.
    @discardableResult
    public func expectRemark(
        _ code: String, within time: Duration = TestBus.patience, file: StaticString = #fileID, line: UInt = #line
    ) throws -> ReceivedFrame {
        let frame = try expect(["kind": "error", "code": .string(code)], within: time, file: file, line: line)
        guard frame["id"] == nil else {
            throw failure("expected \(code) without id, but received\n    \(frame)", file, line)
        }
        return frame
    }

    /// Expects the connection to end before any frame comes.
    public func expectEnd(
        within time: Duration = TestBus.patience, file: StaticString = #fileID, line: UInt = #line
    ) throws {
        try waitForEnd(time, file, line)
        guard inbox.isEmpty else {
            throw failure("expected the connection's end, and before it \(whatCame)", file, line)
        }
    }

    /// Expects the connection to end, with an error of this code and without an id as its last
    /// frame.
    /// - Returns: that error. The frames before it stay in the inbox.
    @discardableResult
    public func expectEnd(
        _ code: String, within time: Duration = TestBus.patience, file: StaticString = #fileID, line: UInt = #line
    ) throws -> ReceivedFrame {
        try waitForEnd(time, file, line)
        guard let last = inbox.last, last.kind == "error", last.code == code, last["id"] == nil else {
            throw failure("expected the connection's end with \(code), but \(whatCame)", file, line)
        }
        return inbox.removeLast()
    }

    /// Makes a round trip: afterwards the broker has handled everything that this peer sent.
    /// Everything that the broker had for this peer is in the inbox. Tests use it instead of
    /// sleeping.
    public func settle(
        within time: Duration = TestBus.patience, file: StaticString = #fileID, line: UInt = #line
    ) throws {
        _ = try roundTrip(time, file, line)
    }

    /// Makes a round trip, and returns everything that arrived before its end, in order.
    public func drain(
        within time: Duration = TestBus.patience, file: StaticString = #fileID, line: UInt = #line
    ) throws -> [ReceivedFrame] {
        let count = try roundTrip(time, file, line)
        defer { inbox.removeFirst(count) }
        return Array(inbox.prefix(count))
    }

    /// Makes a round trip, and expects that nothing has arrived.
    public func expectNothing(
        within time: Duration = TestBus.patience, file: StaticString = #fileID, line: UInt = #line
    ) throws {
        let frames = try drain(within: time, file: file, line: line)
        guard frames.isEmpty else {
            throw failure("expected nothing, but received\(frames.map { "\n    \($0)" }.joined())", file, line)
        }
    }

    /// - Returns: the number of frames in the inbox that came before the answer.
    private func roundTrip(_ time: Duration, _ file: StaticString, _ line: UInt) throws -> Int {
        let id = newSettlingID()
        try send(["kind": "call", "id": id.json, "to": "bus/ping"])
        let index = try wait("the answer to a ping", time, file, line) {
            self.inbox.firstIndex { $0.id == id && ($0.kind == "reply" || $0.kind == "error") }
        }
        let answer = inbox.remove(at: index)
        guard answer.kind == "reply" else { throw failure("a settling ping was answered with \(answer)", file, line) }
        return index
    }

    // MARK: waiting

    private func nextFrame(
        _ what: @autoclosure () -> String, _ time: Duration, _ file: StaticString, _ line: UInt
    ) throws -> ReceivedFrame {
        _ = try wait(what(), time, file, line) { self.inbox.isEmpty ? nil : 0 }
        return inbox.removeFirst()
    }

    /// Reads until `found` returns a value.
    /// - Parameter pause: the time after which `found` is called again even if nothing has
    ///   arrived.
    func wait<Found>(
        _ what: @autoclosure () -> String, _ time: Duration, _ file: StaticString, _ line: UInt,
        looking pause: Duration? = nil,
        _ found: () throws -> Found?
    ) throws -> Found {
        let deadline = group.deadline(time)
        while true {
            try group.throwScriptFailure()
            if let found = try found() { return found }
            guard !link.isAtEnd else { throw failure("expected \(what()), but \(whatCame)", file, line) }
            let pause = pause.map { group.deadline(min($0, time)) } ?? deadline
            guard try group.pump(until: pause, for: self) || !group.hasPassed(deadline) else {
                throw failure("expected \(what()) within \(time), but \(whatCame)", file, line)
            }
        }
    }

    private func waitForEnd(_ time: Duration, _ file: StaticString, _ line: UInt) throws {
        let deadline = group.deadline(time)
        while !link.isAtEnd {
            try group.throwScriptFailure()
            guard try group.pump(until: deadline, for: self) || !group.hasPassed(deadline) else {
                throw failure("expected the connection's end within \(time), but \(whatCame)", file, line)
            }
        }
        guard link.unfinished == 0 else {
            throw failure("the connection ended within a frame, after \(link.unfinished) bytes of it", file, line)
        }
    }

    private func describe(_ header: JSON, _ body: JSON?) -> String {
        body.map { "\(header) + \($0)" } ?? "\(header)"
    }
}

extension UInt64 {
    /// The value as a number in a frame.
    var json: JSON { .integer(Int64(clamping: self)) }
}
