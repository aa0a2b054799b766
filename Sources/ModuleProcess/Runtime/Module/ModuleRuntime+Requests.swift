internal import StrataCore

extension ModuleRuntime {
    /// Makes a request and waits for its final answer.
    // Not isolated, and inlined: each `await` of an isolated function asks which executor continues, under a
    // lock of the task, when it begins and when it has ended, which takes 230 instructions each.
    @inline(__always)
    nonisolated(nonsending) func request(_ outgoing: Outgoing, _ body: Body) async throws -> [UInt8] {
        guard ModuleActor.isIsolation(#isolation), let scope = OwnRequest.begin(self, outgoing) else {
            return try await exchange(outgoing, body).reply
        }
        do {
            let reply = try await withUnsafeThrowingContinuation { OwnRequest.send(scope, outgoing, body, $0) }
            OwnRequest.end(self, scope, nil)
            return reply
        } catch {
            OwnRequest.end(self, scope, error)
            throw error
        }
    }

    /// Makes a request, and also returns the connection that it was made on.
    func exchange(_ outgoing: Outgoing, _ body: Body) async throws -> (reply: [UInt8], session: Session) {
        guard let telemetry else { return try await exchangeOnceConnected(outgoing, body) }
        var outgoing = outgoing
        let measurement = telemetry.begin(&outgoing)
        do {
            let answer = try await exchangeOnceConnected(outgoing, body)
            measurement.ended()
            return answer
        } catch {
            measurement.ended(error)
            throw error
        }
    }

    private func exchangeOnceConnected(
        _ outgoing: Outgoing, _ body: Body
    ) async throws -> (reply: [UInt8], session: Session) {
        let session = try await connection.session(for: outgoing)
        return (try await exchange(outgoing, body, on: session), session)
    }

    private func exchange(_ outgoing: Outgoing, _ body: Body, on session: Session) async throws -> [UInt8] {
        let scope = CallScope.current
        defer { scope?.resumed() }
        let id = session.takeID()
        let reply = try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { session.request(outgoing, body, scope, id, $0) }
        } onCancel: {
            // The answer still arrives: `cancelled`, or one that was already under way.
            onModuleActor { session.cancel(id) }
        }
        if !releases.isEmpty { releaseMore() }
        return reply
    }

    /// Sends a notification.
    func send(_ outgoing: Outgoing, _ body: Body) throws {
        guard let telemetry else { return try sendUnmeasured(outgoing, body) }
        var outgoing = outgoing
        let measurement = telemetry.begin(&outgoing)
        do {
            try sendUnmeasured(outgoing, body)
            measurement.ended()
        } catch {
            measurement.ended(error)
            throw error
        }
    }

    private func sendUnmeasured(_ outgoing: Outgoing, _ body: Body) throws {
        guard let session = connection.session else { throw BusError.notConnected(outgoing.what) }
        let scope = CallScope.current
        try body.withUnsafeBytes { body throws(BusError) in try session.send(outgoing, body, scope: scope) }
    }

    /// Makes a request that is answered in parts. Without a connection, the request is sent as soon
    /// as there is one and the stream is read.
    /// - Parameter instance: The instance that the stream belongs to, and keeps alive.
    func stream(_ outgoing: Outgoing, _ body: Body, of instance: Instance?) throws -> StreamSource {
        let buffer = ReplyBuffer(credit: outgoing.$extras?.credit ?? 0)
        let scope = CallScope.current
        var outgoing = outgoing
        if let measurement = telemetry?.begin(&outgoing) {
            buffer.onEnd = { error in measurement.ended(error?.code) }
        }
        if let session = connection.session {
            do { try stream(outgoing, body, scope, session, into: buffer) } catch {
                buffer.ended(error as? BusError ?? BusError(.failed, "\(error)"))
                throw error
            }
        } else {
            buffer.postpone { [unowned buffer, outgoing] in
                let session = try await self.connection.session(for: outgoing)
                try self.stream(outgoing, body, scope, session, into: buffer)
            }
        }
        return StreamSource(buffer, of: instance)
    }

    private func stream(
        _ outgoing: Outgoing, _ body: Body, _ scope: CallScope?, _ session: Session, into buffer: ReplyBuffer
    ) throws {
        let id = try body.withUnsafeBytes { body throws(BusError) in
            try session.request(outgoing, body, scope: scope, .stream(buffer))
        }
        buffer.connect(
            giveCredit: { [weak session] credit in session?.give(credit: credit, to: id) },
            giveUp: { [weak session] in session?.abandon(id) })
    }

    // MARK: Observing at run time

    /// Declares an observation, now and on each later connection.
    func observe(_ observing: Observing) async throws {
        let outgoing = Outgoing.call("bus/observe")
        let session = try await connection.session(for: outgoing)
        observations.add(observing)
        try await request(outgoing, observing.json, on: session) { answer in
            switch answer {
            case .success(let reply):
                self.observations.subscribed(observing, (try? Coding.json(reply))?["subscription"]?.integer)
            case .failure: _ = self.observations.remove(observing)
            }
        }
    }

    /// Makes a request whose answer must be handled before any later frame is read, and before a
    /// lost connection is made again.
    func request(
        _ outgoing: Outgoing, _ body: JSON, on session: Session,
        _ receive: @escaping @ModuleActor (Result<[UInt8], BusError>) -> Void
    ) async throws {
        let body = body.encoded()
        try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
            do {
                _ = try body.withUnsafeBytes { body throws(BusError) in
                    try session.request(
                        outgoing, body, scope: nil,
                        .callback { answer in
                            receive(answer)
                            continuation.resume(with: answer.map { _ in })
                        })
                }
            } catch {
                receive(.failure(error as? BusError ?? BusError(.failed, "\(error)")))
                continuation.resume(throwing: error)
            }
        }
    }

    /// Ends an observation.
    func unobserve(_ observing: Observing) async throws {
        guard let number = observations.remove(observing), connection.session != nil else { return }
        _ = try await request(.call("bus/unobserve"), .bytes((["subscription": .integer(number)] as JSON).encoded()))
    }
}
