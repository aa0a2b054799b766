public import StrataCore

/// The script of a played module: an ordered list of expected frames and answers, and standing
/// answers.
///
///     let storage = try bus.play("Storage", provides: ["Storage"]) { script in
///         script.expectCall("Storage/get", ["key": "a"]).reply(["value": 1])
///         script.expectCall("Storage/put").fail("Storage.full")
///     }
///
/// A frame must be the next one in the list, or have a standing answer. Any other frame fails the
/// test at its next wait.
public final class ModuleScript {
    /// What the script does when an expected frame has arrived.
    public typealias Reaction = (RawPeer, ReceivedFrame) throws -> Void

    private var steps: [Step] = []
    private var standing: [(header: JSON, reaction: Reaction)] = []

    /// One expected frame, and the reactions to it.
    public final class Step {
        let header: JSON
        let body: JSON?
        let place: (file: StaticString, line: UInt)
        var reactions: [Reaction] = []

        init(_ header: JSON, _ body: JSON?, _ file: StaticString, _ line: UInt) {
            self.header = header
            self.body = body
            place = (file, line)
        }

        /// Answers with a reply.
        @discardableResult
        public func reply(_ body: JSON = [:]) -> Step { then { peer, frame in try peer.reply(to: frame, body) } }

        /// Answers with a partial reply; `reply` must follow.
        @discardableResult
        public func partialReply(_ body: JSON) -> Step {
            then { peer, frame in try peer.partialReply(to: frame, body) }
        }

        /// Answers with an error.
        @discardableResult
        public func fail(_ code: String, _ message: String = "as the script says") -> Step {
            then { peer, frame in try peer.fail(frame, code, message) }
        }

        /// Sends a broadcast.
        @discardableResult
        public func broadcast(_ name: String, _ body: JSON? = nil) -> Step {
            then { peer, _ in
                let header: JSON = ["kind": "broadcast", "name": .string(name)]
                try peer.send(header, body: body)
            }
        }

        /// Closes the module's connection, as if the module had died.
        @discardableResult
        public func die() -> Step { then { peer, _ in peer.close() } }

        /// Does anything else.
        @discardableResult
        public func then(_ reaction: @escaping Reaction) -> Step {
            reactions.append(reaction)
            return self
        }

        var description: String { body.map { "\(header) + \($0)" } ?? "\(header)" }
    }

    /// Expects a call of this action as the next frame.
    @discardableResult
    public func expectCall(
        _ to: String, _ body: JSON? = nil, file: StaticString = #fileID, line: UInt = #line
    ) -> Step {
        expect(["kind": "call", "to": .string(to)], body, file: file, line: line)
    }

    /// Expects a notice with this name as the next frame. Answer a report's notice with `reply`.
    @discardableResult
    public func expectNotice(
        _ name: String, _ body: JSON? = nil, file: StaticString = #fileID, line: UInt = #line
    ) -> Step {
        expect(["kind": "notice", "name": .string(name)], body, file: file, line: line)
    }

    /// Expects a frame with these members as the next frame.
    @discardableResult
    public func expect(
        _ header: JSON, _ body: JSON? = nil, file: StaticString = #fileID, line: UInt = #line
    ) -> Step {
        let step = Step(header, body, file, line)
        steps.append(step)
        return step
    }

    /// Answers calls of an action whenever they come, in any order.
    public func answers(_ to: String, _ answer: @escaping (ReceivedFrame) throws -> JSON) {
        standing.append(
            (["kind": "call", "to": .string(to)], { peer, frame in try peer.reply(to: frame, try answer(frame)) }))
    }

    /// Accepts notices with this name whenever they come, in any order. Answers those of reports.
    public func ignoresNotices(_ name: String) {
        standing.append(
            (
                ["kind": "notice", "name": .string(name)],
                { peer, frame in if frame.id != 0 { try peer.reply(to: frame) } }
            ))
    }

    /// What the script waits for; nil at its end.
    var next: String? { steps.first.map { "\($0.description) (\($0.place.file):\($0.place.line))" } }

    /// Handles a frame to the module.
    /// - Returns: false to leave the frame to the test.
    func take(_ frame: ReceivedFrame, of peer: RawPeer) throws -> Bool {
        if let step = steps.first, frame.matches(step.header, body: step.body) {
            steps.removeFirst()
            for reaction in step.reactions { try reaction(peer, frame) }
            return true
        }
        for (header, reaction) in standing where frame.matches(header) {
            try reaction(peer, frame)
            return true
        }
        // Answers to what the test sent through this peer belong to the test.
        guard frame.kind == "call" || frame.kind == "notice" else { return false }
        let waited = steps.first.map { "waits for \($0.description)" } ?? "is at its end"
        let (file, line) = steps.first?.place ?? (#fileID, #line)
        peer.scriptFailure = TestFailure(
            "the script of \(peer.label) \(waited), but received\n    \(frame)", file: file, line: line)
        return true
    }
}
