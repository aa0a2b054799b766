import StrataCore

/// What the launcher does, and what happens to its processes.
extension BusSimulation {
    /// The launcher's session; nil if there is none.
    private var launcher: SimulatedSession? {
        current.last { $0?.role == .launcher && $0?.isUsable == true } ?? nil
    }

    /// Starts a process for a row, vouches for it, and connects it.
    func spawn(_ place: Int) {
        guard let launcher, app.modules[place].row.start != .manual else { return }
        let pid = Int32(1_000 + referee.sessions.count)
        let token = "t\(pid)"
        referee.starts.spoken[referee.requests.count] = place
        broker.processes.start(pid, parent: launcher.pid)
        order(
            launcher, "vouch",
            #"{"module":"\#(app.modules[place].row.name)","token":"\#(token)","pid":\#(pid)}"#)
        connect(place, pid, token: token, Int(pid))
    }

    /// Ends a row's process, and reports its new state to the bus.
    func kill(_ place: Int, _ choice: Int) {
        guard let session = current[place] ?? nil, session.token != nil else { return }
        tell("# \(session.label)'s process ends")
        broker.processes.end(session.pid)
        session.pipe.close()
        guard let launcher else { return }
        let state = ["restarting", "absent", "failed"][choice % 3]
        referee.starts.spoken[referee.requests.count] = place
        order(launcher, "moduleState", #"{"module":"\#(session.name)","state":"\#(state)","reason":"it was killed"}"#)
    }

    func retire(_ place: Int) {
        guard let launcher else { return }
        referee.starts.retired.insert(place)
        referee.replicasChanged { $0 == place }
        order(launcher, "retire", #"{"module":"\#(app.modules[place].row.name)"}"#)
    }

    /// Sends the bus a request, as the launcher.
    private func order(_ launcher: SimulatedSession, _ action: String, _ body: String) {
        request(
            launcher, "call", .bus, #","to":"bus/\#(action)""#, body: { _ in body },
            step: SimulationStep(kind: .ask, peer: 0, a: 0, b: 5 << 4), isEndless: true)
    }

    /// Answers a request to the launcher.
    func obey(_ frame: SimulatedFrame, _ launcher: SimulatedSession) {
        let answer = SimulatedAnswer(kind: .reply, number: 0)
        let action = frame.to.dropFirst("launcher/".count)
        let name = (try? JSON(parsing: frame.body))?["module"]?.string ?? ""
        let named = app.modules.indices.filter { app.modules[$0].row.name == name || app.rowName($0) == name }
        for place in named.isEmpty ? [0] : named {
            if action == "start" { spawn(place) }
            if action == "stop" || action == "restart" { kill(place, action == "stop" ? 1 : 0) }
            if action == "restart" { spawn(place) }
        }
        let isRefused = frame.id >> 22 & 7 == 0
        if action == "reload", !isRefused {
            let table = app.otherTable(Int(frame.id))
            return send(
                launcher, #"{"kind":"reply","id":\#(frame.id)}"#, table.json().description, .table(table))
        }
        send(
            launcher,
            isRefused
                ? #"{"kind":"error","id":\#(frame.id),"code":"unavailable","message":"not now"}"#
                : #"{"kind":"reply","id":\#(frame.id)}"#,
            "{}", .answer(serving: frame.id, request: -1, answer))
    }
}
