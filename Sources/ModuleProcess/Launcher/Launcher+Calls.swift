import StrataCore
import StrataOperator

/// The interface `launcher`. The broker lets operators and itself call it, and modules for the rows
/// that they manage.
extension Launcher {
    func answer(_ call: BusClient.Incoming) {
        let action = call.to.split(separator: "/", maxSplits: 1).last.map(String.init) ?? ""
        guard app.isRunning else { return link.client.fail(call.id, BusError(.unavailable, "the app is ending")) }
        switch action {
        case "start", "stop", "restart", "lend", "why": module(action, call)
        case "hung" where call.from == "bus": module(action, call)
        case "scale": scale(call)
        case "logs": logs(call)
        case "reload": reload(call)
        case "down":
            link.client.reply(call.id)
            link.client.flush()
            end(Ending(code: 0, message: "launcher/down by \(call.from)"))
        default:
            let known = ["start", "stop", "restart", "scale", "lend", "why", "logs", "reload", "down"]
            let message = "launcher has no action \(action)\(suggestion(action, known)); its actions are \(list(known))"
            link.client.fail(call.id, BusError(.unknownAction, message))
        }
    }

    private func module(_ action: String, _ call: BusClient.Incoming) {
        guard let json = try? JSON(parsing: call.body), let name = json["module"]?.string else {
            let message =
                "launcher/\(action) expects {\"module\": NAME}; found \(call.body.isEmpty ? "nothing" : "something else")"
            return link.client.fail(call.id, BusError(.badParams, message))
        }
        let replicas = replicas(of: name)
        guard replicas.isEmpty else { return order(action, replicas, of: name, call, reason(json, call)) }
        guard let supervisor = supervisor(name), !supervisor.isRemoved else {
            return link.client.fail(call.id, unknown(name))
        }
        if action == "hung" {
            sayHang(of: supervisor, json)
            return link.client.reply(call.id)
        }
        if action == "why" { return link.client.reply(call.id, supervisor.why(most: link.mostBody)) }
        do throws(BusError) { try requireRoom() } catch { return link.client.fail(call.id, error) }
        if action == "lend" { return lend(supervisor, json, call) }
        perform(action, supervisor, reason(json, call), isBus: call.from == "bus", for: .call(call.id))
    }

    private func reason(_ json: JSON, _ call: BusClient.Incoming) -> String {
        json["reason"]?.string
            ?? (call.from == "bus" ? "the bus wants it" : "by \(call.from.isEmpty ? "operator" : call.from)")
    }

    /// Starts, stops or restarts a module.
    func perform(
        _ action: String, _ supervisor: Supervisor, _ reason: String, isBus: Bool, for asker: Waiters.Waiter.Asker
    ) {
        // A debugger may have halted the process, so an unanswered ping is no reason to restart it.
        // The bus may stop an idle one, however, because it has done its tearDown.
        if action == "restart" || (action == "stop" && !isBus), let loan = supervisor.loan {
            let message =
                "process \(loan.pid) is run by hand as \(supervisor.name): end it, and the launcher starts what ran "
                + "before"
            return answer(asker, BusError(.unavailable, message))
        }
        switch action {
        case "start": start(supervisor, reason, isBus, asker)
        case "stop":
            // The broker has already retired an idle module when it asks to stop it.
            stop(supervisor, reason, asksForTearDown: !isBus, asker)
        default: restart(supervisor, reason, isBus, asker)
        }
    }

    /// Answers whoever asked for a module's state.
    /// - Parameter error: Nil if the module has reached it.
    func answer(_ asker: Waiters.Waiter.Asker, _ error: BusError?) {
        switch asker {
        case .call(let id):
            if let error { link.client.fail(id, error) } else { link.client.reply(id) }
        case .order(let number): partEnded(of: number, error)
        }
    }

    /// Says that a module hangs which isn't restarted for it, or that it answers again. The broker
    /// tells each change once.
    private func sayHang(of supervisor: Supervisor, _ json: JSON) {
        guard json["hung"]?.bool == true else {
            return console.say(of: supervisor.name, "answers its pings again")
        }
        let reason = json["reason"]?.string ?? "it doesn't answer its pings"
        console.say(
            of: supervisor.name, "hangs: \(reason); it isn't restarted (ping.restart: false)")
    }

    private func start(
        _ supervisor: Supervisor, _ reason: String, _ isBus: Bool, _ asker: Waiters.Waiter.Asker
    ) {
        if supervisor.machine.isReady { return answer(asker, nil) }
        waiters.add(asker, until: .ready, of: supervisor.name, isBus: isBus)
        supervisor.start(reason: reason, byHand: !isBus)
    }

    private func stop(
        _ supervisor: Supervisor, _ reason: String, asksForTearDown: Bool, _ asker: Waiters.Waiter.Asker
    ) {
        if supervisor.machine.isAtRest {
            answer(asker, nil)
        } else {
            waiters.add(asker, until: .stopped, of: supervisor.name)
        }
        supervisor.stop(reason: reason, asksForTearDown: asksForTearDown)
    }

    private func restart(
        _ supervisor: Supervisor, _ reason: String, _ isBus: Bool, _ asker: Waiters.Waiter.Asker
    ) {
        waiters.add(asker, until: .ready, of: supervisor.name, isBus: isBus)
        if isBus { supervisor.restartHung(reason: reason) } else { supervisor.restart(reason: reason) }
    }

    func unknown(_ module: String) -> BusError {
        let table = settings.manifest.table
        if let node = table.node, let row = table.modules.first(where: { $0.name == module }), row.isAway(from: node) {
            return BusError(.unavailable, "\(module) is on \(row.placement), and this is \(node): ask there")
        }
        let names = supervisors.filter { !$0.isRemoved }.map(\.name)
        return BusError(.unknownModule, "the manifest has no module \(module)\(suggestion(module, names))")
    }

    private func suggestion(_ name: String, _ known: [String]) -> String {
        let near = nearestNames(to: name, in: known)
        return near.isEmpty ? "" : "; did you mean \(near.joined(separator: " or "))?"
    }
}

/// `launcher/logs`: the output of modules, as a stream.
extension Launcher {
    /// The unsent bytes to the broker beyond which no further lines are sent.
    private static let mostUnsent = 256 << 10

    func logs(_ call: BusClient.Incoming) {
        do throws(BusError) {
            var request = try LogRequest(call.body)
            request.modules = request.modules.map { modules in
                Set(modules.flatMap { name in [name] + replicas(of: name).map(\.name) })
            }
            for module in (request.modules ?? []).sorted()
            where supervisor(module) == nil && replicas(of: module).isEmpty { throw unknown(module) }
            try logs.open(call.id, credit: call.credit, request)
            sendLines()
        } catch {
            link.client.fail(call.id, error)
        }
    }

    func wrote(_ line: OutputLine, _ module: String) {
        console.line(of: module, line.bytes, line.severity ?? .info)
        logs.add(line, of: module)
        sendLines()
    }

    func readerGot(_ credit: UInt64, for id: UInt64) {
        logs.received(credit, for: id)
        sendLines()
    }

    /// Sends each reader the lines it accepts. Called after a new line, after credit, and each
    /// second.
    func sendLines() { logs.send(most: link.mostBody, while: { link.client.unsent < Self.mostUnsent }, send) }

    /// Ends all readers because the app ends. They get the last lines that they accept, and the
    /// reason.
    func endReaders(_ ending: Ending) {
        sendLines()
        logs.end("the app ends: \(ending.message)", send)
        link.client.flush()
    }

    private func send(_ reply: LogStreams.Reply) {
        switch reply {
        case .line(let id, let body): link.client.replyPartially(id, body)
        case .end(let id, let body): link.client.reply(id, body)
        }
    }
}
