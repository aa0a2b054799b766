internal import StrataCore

extension ModuleRuntime {
    /// Makes a request and waits for its final answer.
    // Inlined, with what it calls: each `await` of a separate function asks twice which executor
    // continues, under a lock of the task.
    @inline(__always)
    func request(_ outgoing: Outgoing, _ body: Body) async throws -> [UInt8] {
        if let session = connection.session, outgoing.lease == nil {
            guard let telemetry else { return try await exchange(outgoing, body, on: session) }
            if telemetry.tracing == nil, outgoing.kind == .call, let metrics = telemetry.metrics {
                let measurement = Measurement(metrics.requests[call: outgoing.to])
                do {
                    let reply = try await exchange(outgoing, body, on: session)
                    measurement.ended()
                    return reply
                } catch {
                    measurement.ended(error)
                    throw error
                }
            }
        }
        return try await exchange(outgoing, body).reply
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

    @inline(__always)
    private func exchange(_ outgoing: Outgoing, _ body: Body, on session: Session) async throws -> [UInt8] {
        let scope = CallScope.current
        defer { scope?.resumed() }
        let id = session.takeID()
        let reply = try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<[UInt8], any Error>) in
                send(outgoing, body, on: session, scope, id, continuation)
            }
        } onCancel: {
            // The answer still arrives: `cancelled`, or one that was already under way.
            onModuleActor { session.cancel(id) }
        }
        if !releases.isEmpty { releaseMore() }
        return reply
    }

    private func send(
        _ outgoing: borrowing Outgoing, _ body: Body, on session: Session, _ scope: CallScope?, _ id: UInt64,
        _ continuation: UnsafeContinuation<[UInt8], any Error>
    ) {
        do {
            guard !Task.isCancelled else {
                throw BusError(.cancelled, "\(outgoing.what) was cancelled before it was sent")
            }
            let outgoing = copy outgoing
            try body.withUnsafeBytes { body throws(BusError) in
                try session.request(outgoing, body, scope: scope, id, .once(continuation))
            }
        } catch {
            continuation.resume(throwing: error)
        }
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
        let buffer = ReplyBuffer(credit: outgoing.credit ?? 0)
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
