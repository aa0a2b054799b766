internal import FaultPlan
internal import FaultRecord
internal import FaultSystem
internal import Foundation
internal import StrataOperator

/// Doing harm. Each fault is logged before it is done.
extension Run {
    func inflict(_ fault: PlannedFault) throws {
        let node = nodes[fault.node]
        say("  \(fault.text)\(fault.role.isEmpty || fault.kind == .changeRow ? node.place : "")")
        switch fault.kind {
        case .killModule:
            if let place = processes.target(fault.role, fault.at) { hit(fault, place.node, place.pid, SIGKILL) }
        case .killBroker:
            if let broker = processes.broker(of: node) { hit(fault, node.index, broker, SIGKILL) }
        case .haltModule: if let place = processes.target(fault.role, fault.at) { halt(fault, place.node, place.pid) }
        case .haltBroker: if let broker = processes.broker(of: node) { halt(fault, node.index, broker) }
        case .cutConnection:
            guard let place = processes.target(fault.role, fault.at) else { return }
            note(fault, place.node, place.pid, detail: target(fault))
            _ = fault_cut(place.pid, nodes[Int(place.node)].socket)
        case .halfFrame: order(fault, Board.Place.cut)
        case .delayReader: order(fault, UInt64(fault.milliseconds))
        case .restartModule: restart(fault)
        case .scale: scale(fault, node)
        case .handOver: handOver(fault, node)
        case .reload: try reload(fault, node)
        case .fillDisk: fillDisk(fault)
        case .guestComes:
            note(fault, node.index, 0)
            try processes.startGuest(on: node)
        case .guestGoes:
            guard let guest = node.guests.first else { return }
            note(fault, node.index, guest)
            processes.endGuest(of: node)
        case .killLink: if let link = processes.link(of: node) { hit(fault, node.index, link, SIGKILL) }
        case .haltLink: if let link = processes.link(of: node) { halt(fault, node.index, link) }
        case .killServer: killServer(fault)
        case .haltServer: if let server, server.pid > 0 { halt(fault, node.index, server.pid) }
        case .cutCable: try cutCable(fault)
        case .killNode: killNode(fault, node)
        case .changeRow: try changeRow(fault, node)
        case .killLauncher: break
        }
    }

    func note(_ fault: PlannedFault, _ node: UInt8, _ pid: Int32, detail: UInt64 = 0) {
        log.write(
            Record(
                .fault, kind: fault.kind.rawValue, code: node, extra: UInt32(bitPattern: pid),
                number: UInt64(fault.milliseconds), detail: detail))
    }

    /// The number of the role that a fault hits, plus 1; 0 for none. A process that is killed as it starts has no log
    /// that names its role.
    private func target(_ fault: PlannedFault) -> UInt64 { Role.index(of: fault.role).map { UInt64($0) + 1 } ?? 0 }

    private func hit(_ fault: PlannedFault, _ node: UInt8, _ pid: Int32, _ signal: Int32) {
        note(fault, node, pid, detail: target(fault))
        kill(pid, signal)
    }

    private func halt(_ fault: PlannedFault, _ node: UInt8, _ pid: Int32) {
        guard !halted.contains(pid) else { return }
        halted.insert(pid)
        hit(fault, node, pid, SIGSTOP)
        later.append(
            (
                Record.now + UInt64(fault.milliseconds) * 1_000_000,
                { [unowned self] in
                    halted.remove(pid)
                    kill(pid, SIGCONT)
                }
            ))
    }

    private func order(_ fault: PlannedFault, _ order: UInt64) {
        guard let place = processes.target(fault.role, fault.at) else { return }
        note(fault, place.node, place.pid, detail: target(fault))
        place.order = order
    }

    private func restart(_ fault: PlannedFault) {
        guard let role = Role.named(fault.role) else { return }
        let homes = placement.homes(of: role)
        let node = nodes[Int(homes[fault.node % homes.count])]
        note(fault, node.index, 0, detail: UInt64(Role.index(of: fault.role) ?? 0))
        node.link.send("launcher/restart", ["module": .string(fault.role)]) { [unowned self] answer in
            if case .success = answer { replaced.done += 1 } else { replaced.refused += 1 }
        }
    }

    private func scale(_ fault: PlannedFault, _ node: AppNode) {
        note(fault, node.index, 0, detail: UInt64(Role.index(of: fault.role) ?? 0))
        let params: JSON = ["module": .string(fault.role), "replicas": .integer(Int64(fault.replicas))]
        node.link.send("launcher/scale", params) { [unowned self] answer in
            if case .success = answer { scaled.done += 1 } else { scaled.refused += 1 }
            tell(answer, "scale: ")
        }
    }

    /// Replaces the broker in place with a new instance of its program. The broker continues to
    /// run meanwhile, and so do the faults.
    private func handOver(_ fault: PlannedFault, _ node: AppNode) {
        guard node.canHandOver else { return }
        let begun = Record.now
        node.link.send("bus/handOver") { [unowned self] answer in
            let time = (Record.now - begun) / 1_000_000
            func note(isDone: Bool) {
                log.write(
                    Record(
                        .fault, kind: fault.kind.rawValue, code: node.index, number: time, detail: isDone ? 1 : 0,
                        time: begun))
                if isDone { handOvers.done += 1 } else { handOvers.refused += 1 }
            }
            switch answer {
            case .success(let told):
                note(isDone: true)
                stoodStill = max(stoodStill, told["microseconds"]?.integer ?? 0)
            case .failure(.refused(let error)) where error.code == .unknownAction:
                say("  (this broker can't be replaced in place)")
                node.canHandOver = false
            case .failure:
                note(isDone: false)
                tell(answer)
            }
        }
    }

    private func reload(_ fault: PlannedFault, _ node: AppNode) throws {
        note(fault, node.index, 0)
        node.manifest.round += 1
        try places.write(node.manifest.text, to: node.manifestPath)
        node.link.send("bus/reload") { [unowned self] in tell($0, "reload: ") }
    }

    /// Shows the error in an answer. A lost connection is not shown.
    private func tell(_ answer: Result<JSON, ClientError>, _ what: String = "") {
        if case .failure(.refused(let error)) = answer { say("  (\(what)\(error))") }
    }

    /// Fills the store's disk. If the store has no disk of its own, its process may write no
    /// file.
    private func fillDisk(_ fault: PlannedFault) {
        let end = Record.now + UInt64(fault.milliseconds) * 1_000_000
        guard places.hasDisk else {
            guard let pid = processes.target("Store")?.pid else { return }
            note(fault, 0, pid)
            _ = fault_limit_files(pid, 1)
            later.append((end, { _ = fault_limit_files(pid, -1) }))
            return
        }
        note(fault, 0, 0)
        let path = places.disk + "/filler"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        let piece = [UInt8](repeating: 1, count: 4_096)
        while write(descriptor, piece, piece.count) > 0 {}
        close(descriptor)
        later.append((end, { unlink(path) }))
    }
}
