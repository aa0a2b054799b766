internal import StrataCore
internal import Tracing

extension ModuleRuntime {
    /// Answers one of the broker's own calls, `module/…`.
    func handle(
        module action: UnsafeRawBufferPointer, _ call: IncomingCall, _ header: borrowing Header,
        _ body: UnsafeRawBufferPointer
    ) {
        if action.equals("ping") {
            call.reply(Array("{}".utf8))
        } else if action.equals("event") {
            let name = header.name.text
            guard let event = offers.exports.events.first(where: { $0.name == name }) else {
                call.fail(ModuleError(.unknownAction, "\(self.name) doesn't handle the event \(name)"))
                return
            }
            event.start(call, header, body)
        } else if action.equals("metrics") {
            guard let answer = (configuration.metrics as? BusMetrics ?? .shared).answer() else {
                call.fail(ModuleError(.unknownAction, "\(self.name) keeps no metrics for the bus"))
                return
            }
            call.reply(answer.encoded())
        } else if action.equals("contracts") {
            describeContracts(call)
        } else if action.equals("settings") {
            changeSettings(call, body)
        } else if action.equals("retiring") {
            retire(call)
        } else if action.equals("released") {
            instanceReleased(call, body)
        } else if action.equals("create") {
            instanceCreated(call, header.meta, body)
        } else if action.equals("instanceEnded") {
            instanceEnded(call, body)
        } else if let step = LifeCycle.Step(rawValue: action.text) {
            let params = (try? JSON(parsing: Array(body))) ?? .null
            perform(step, params, scope: call) { result in
                switch result {
                case .success:
                    if step == .setUp { self.openProperties() }
                    call.reply(Array("{}".utf8))
                case .failure(let error):
                    // Logged before the broker gets the answer, because it may end the process at
                    // once.
                    ModuleLog.logger.error("\(self.name) failed in \(step.rawValue): \(error)")
                    call.fail(error)
                }
            }
        } else {
            call.fail(ModuleError(.unknownAction, "\(name) has no module/\(action.text)"))
        }
    }

    /// Runs `retiring`, because another process has taken over, then ends the exported topics. The broker
    /// tears the module down after the answer.
    private func retire(_ call: IncomingCall) {
        guard let module else { return }
        call.run { [name, offers] call in
            do { try await module.retiring() } catch {
                ModuleLog.logger.error("\(name) failed in retiring: \(error)")
                throw error
            }
            let error = ModuleError(.replaced, "another process of \(name) has taken over: call it again")
            for topic in offers.exports.topics { topic.finish(throwing: error) }
            call.reply(Array("{}".utf8))
        }
    }

    /// Answers `module/settings`: the values that a reload has changed.
    private func changeSettings(_ call: IncomingCall, _ body: UnsafeRawBufferPointer) {
        guard let settings else {
            call.fail(ModuleError(.unknownAction, "\(name) declares no settings"))
            return
        }
        let given = (try? JSON(parsing: Array(body)))?["settings"] ?? [:]
        call.run { [name] call in
            do { try await settings.take(given) } catch {
                ModuleLog.logger.error("\(name) keeps its settings: \(error)")
                throw error
            }
            call.reply(Array("{}".utf8))
        }
    }

    private func perform(
        _ step: LifeCycle.Step, _ params: JSON, scope: CallScope, then: @escaping (Result<Void, any Error>) -> Void
    ) {
        guard step != .tearDown else {
            tearDown(scope: scope, then: then)
            return
        }
        guard let module else { return }
        let context = Context(hello: connection.welcome, setUp: params, arguments: configuration.arguments)
        lifeCycle.run(
            step,
            start: { finish in
                run(scope: scope, finish) { [settings] in
                    switch step {
                    case .setUp: try await module.setUp(try settings?.setUp(context) ?? context)
                    case .initialize: try await module.initialize()
                    case .didStart: try await module.didStart()
                    case .tearDown: break
                    }
                }
            }, then: then)
    }

    /// Runs the last step, once.
    /// - Parameter asked: The broker's call; nil at SIGTERM.
    func tearDown(scope asked: CallScope?, then: @escaping (Result<Void, any Error>) -> Void) {
        guard let module else { return }
        backgrounds.cancelAll()
        let scope = asked ?? CallScope(name: "\(name).tearDown", in: surroundings)
        lifeCycle.run(
            .tearDown,
            start: { finish in
                handlerWait.begin(on: connection.session, asked?.remaining) { [unowned self] in
                    run(scope: scope, finish) { try await module.tearDown() }
                }
            }, then: then)
    }

    /// Runs a step of the module's life as a separate task.
    func run(
        scope: CallScope, _ finish: @escaping @ModuleActor (Result<Void, any Error>) -> Void,
        _ work: @escaping @ModuleActor () async throws -> Void
    ) {
        let watch = ModuleExecutor.shared.watch
        watch.begin(scope.name)
        Task.immediate(executorPreference: ModuleExecutor.shared) { @ModuleActor in
            scope.begin()
            await CallScope.$current.withValue(scope) {
                do {
                    try await ServiceContext.$current.withValue(scope.context) { try await work() }
                    finish(.success(()))
                } catch {
                    finish(.failure(error))
                }
            }
            scope.close()
        }
        watch.end()
    }
}
