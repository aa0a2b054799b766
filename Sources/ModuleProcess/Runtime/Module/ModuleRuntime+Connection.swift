internal import StrataCore

extension ModuleRuntime {
    /// The refusals and farewells after which another try may succeed.
    private static let passing: Set<ErrorCode> = [.slowConsumer, .overloaded, .nameTaken]

    /// Connects, and says hello.
    func connect() {
        let channel: FrameChannel
        do {
            channel = try FrameChannel(
                ModuleExecutor.shared.loop, path: configuration.socket, limits: SessionLimits().ofFrames)
        } catch {
            // At first there must be a bus; later it may be starting again.
            if welcome == .null && !reconnection.isTrying {
                end(1, "can't reach the bus: \(error): is the app up?")
            } else {
                reconnect("can't reach the bus: \(error)")
            }
            return
        }
        let session = Session(channel)
        connecting = session
        session.onFarewell = { [unowned self] error in self.farewell(error) }
        session.onEnd = { [unowned self] ending in self.lost(ending) }
        session.onCall = { [unowned self, unowned session] header, body in self.received(header, body, on: session) }
        session.onNotice = { [unowned self, unowned session] header, body in
            self.received(notice: header, body, on: session)
        }
        let resumed = lifeCycle.hasStarted
        bySubscription = [:]
        say(
            OfferParts.of(hello(resumed: resumed))[...], observations[...], isHello: true, on: session, resumed: resumed
        )
    }

    /// Says hello, or what follows of it where it doesn't fit into one frame; after the
    /// last part the connection can be used.
    /// - Parameter declared: the observations that the parts have.
    private func say(
        _ parts: ArraySlice<JSON>, _ declared: ArraySlice<Observing>, isHello: Bool, on session: Session, resumed: Bool
    ) {
        guard let part = parts.first else {
            opened(session, resumed: resumed)
            return
        }
        do {
            _ = try part.encoded().withUnsafeBytes { body throws(BusError) in
                try session.request(
                    .call(isHello ? "bus/hello" : "bus/register"), body, scope: nil,
                    .callback { [unowned self] answer in
                        switch answer {
                        case .failure(let error):
                            // The connection's own end comes to `lost`.
                            if error.code != .died { farewell(error) }
                        case .success(let body):
                            let told = (try? JSON(parsing: body)) ?? [:]
                            if isHello { greeted(told, session) }
                            let count = part["observes"]?.array?.count ?? 0
                            subscribe(declared.prefix(count), told["subscriptions"]?.array ?? [])
                            say(
                                parts.dropFirst(), declared.dropFirst(count), isHello: false, on: session,
                                resumed: resumed)
                        }
                    })
            }
        } catch {
            end(1, "can't say hello: \(error)")
        }
    }

    private func greeted(_ hello: JSON, _ session: Session) {
        welcome = hello
        session.limits = SessionLimits(hello["limits"])
    }

    private func opened(_ session: Session, resumed: Bool) {
        reconnection.succeeded()
        connecting = nil
        self.session = session
        telemetry?.metrics?.connected()
        telemetry?.tracing?.name(app: welcome["app"]?.string ?? "")
        gate.open()
        if resumed { runResumed() }
    }

    private func subscribe(_ declared: ArraySlice<Observing>, _ numbers: [JSON]) {
        // Some may have been given up while hello was on its way.
        let present = Set(observations.map(ObjectIdentifier.init))
        for (observing, number) in zip(declared, numbers) where present.contains(ObjectIdentifier(observing)) {
            observing.subscription = number.integer
            if let number = number.integer { bySubscription[number] = observing }
        }
    }

    private func runResumed() {
        guard let module else { return }
        let scope = CallScope(name: "\(name).resumed", parent: nil, deadline: nil, trace: [])
        run(
            scope: scope,
            { if case .failure(let error) = $0 { ModuleLog.logger.error("\(scope.name) failed: \(error)") } },
            { try await module.resumed() })
    }

    /// The codes that, without id, end a connection; any other is a remark on
    /// a frame that wanted no answer.
    private static let ending: Set<ErrorCode> = [
        .badFrame, .badHeader, .tooLarge, .notRegistered, .badVersion, .slowConsumer, .shuttingDown, .failed,
        .overloaded,
    ]

    /// The broker refuses hello, says that it ends the connection, or remarks
    /// on something that this module sent.
    private func farewell(_ error: BusError) {
        if session != nil, !Self.ending.contains(error.code) {
            ModuleLog.logger.error("the bus refused what this module sent: \(error)")
            return
        }
        let what = session == nil ? "refused this module" : "ended this module's connection"
        switch error.code {
        case .shuttingDown: shutDown()
        case let code where Self.passing.contains(code):
            if connecting != nil {
                connecting?.close()
                connecting = nil
                reconnect("the bus \(what): \(error)")
            }
        default: end(1, "the bus \(what): \(error)")
        }
    }

    func lost(_ ending: Session.Ending) {
        session = nil
        connecting = nil
        bySubscription = [:]
        for observing in observations { observing.subscription = nil }
        releases.names = []
        if phase == .living { endInstances() }
        switch phase {
        case .living where lifeCycle.hasBegun(.tearDown):
            // Nothing is left to come back for.
            shutDown()
        case .living:
            reconnect("lost the bus: \(ending.farewell?.description ?? ending.reason.description)")
        case .ending, .ended: break
        }
    }

    private func reconnect(_ reason: String) {
        guard phase == .living else { return }
        let loop = ModuleExecutor.shared.loop
        guard let delay = reconnection.next(now: loop.now) else {
            end(1, "\(reason), and tried to come back for \(Reconnection.patience / 1000) s")
            return
        }
        let timer = reconnectTimer ?? LoopTimer(loop) { [weak self] in self?.connect() }
        reconnectTimer = timer
        timer.start(after: delay)
    }

    func stopReconnecting() {
        reconnectTimer?.close()
        reconnectTimer = nil
    }
}

extension ModuleRuntime {
    /// Ends a connection that can't go on, and makes another.
    func lose(_ session: Session) {
        session.close()
        lost(Session.Ending(reason: .closed, farewell: nil))
    }
}
