import StrataCore
import StrataManifest
import StrataOperator

/// Rows with replicas: orders for all of them, and `launcher/scale`.
extension Launcher {
    /// The replicas of a row, by number; empty if the row has none.
    func replicas(of row: String) -> [Supervisor] {
        supervisors.filter { $0.row.replica?.row == row && !$0.isRemoved }
    }

    /// Carries out an order for all replicas of a row.
    func order(
        _ action: String, _ replicas: [Supervisor], of row: String, _ call: BusClient.Incoming, _ reason: String
    ) {
        guard AppTable.Row.managing.contains(action) else {
            let names = list([replicas[0].name, replicas[replicas.count - 1].name])
            let message = "launcher/\(action) is about one process, and \(row) has replicas: name one, as in \(names)"
            return link.client.fail(call.id, BusError(.badParams, message))
        }
        do throws(BusError) { try requireRoom() } catch { return link.client.fail(call.id, error) }
        goOn(
            replicaOrders.begin(
                ReplicaOrders.Order(
                    call: call.id, action: action, reason: reason, isBus: call.from == "bus",
                    next: replicas.map(\.name))))
    }

    /// Refuses an order if too many are open.
    func requireRoom() throws(BusError) {
        guard waiters.hasRoom else {
            throw BusError(.overloaded, "the launcher has \(Waiters.most) requests open already")
        }
    }

    /// Forgets the order of a call whose caller gave up. What is under way goes on.
    func dropOrder(of call: UInt64) {
        for number in replicaOrders.drop(call) { waiters.drop(.order(number)) }
    }

    private func goOn(_ number: Int) {
        while let name = replicaOrders.take(of: number), let order = replicaOrders[number] {
            guard let supervisor = supervisor(name), !supervisor.isRemoved else {
                partEnded(of: number, unknown(name))
                continue
            }
            perform(order.action, supervisor, order.reason, isBus: order.isBus, for: .order(number))
        }
    }

    func partEnded(of number: Int, _ error: BusError?) {
        guard let order = replicaOrders.partEnded(of: number, error) else { return goOn(number) }
        if order.errors.isEmpty { return link.client.reply(order.call) }
        let message = order.errors.map(\.message).joined(separator: "; ")
        link.client.fail(order.call, BusError(order.errors[0].code, message))
    }

    // MARK: scale

    /// Handles `launcher/scale {"module", "replicas"}`: gives a row another number of replicas, until the app ends.
    /// The answer comes when new replicas are ready and removed ones have ended.
    func scale(_ call: BusClient.Incoming) {
        do throws(BusError) {
            let (row, count) = try wantedReplicas(call.body)
            try requireRoom()
            let before = replicas(of: row).count
            let former = replicaCounts.updateValue(count, forKey: row)
            link.call("reload", ["keep": true]) { [weak self] answer in
                guard let self else { return }
                if case .failure(let error) = answer {
                    // Another order may have given it another number meanwhile.
                    if self.replicaCounts[row] == count { self.replicaCounts[row] = former }
                    return self.link.client.fail(call.id, error)
                }
                self.awaitReplicas(of: row, before, count, call)
            }
        } catch {
            link.client.fail(call.id, error)
        }
    }

    private func wantedReplicas(_ body: [UInt8]) throws(BusError) -> (row: String, count: Int) {
        guard let json = try? JSON(parsing: body), let row = json["module"]?.string,
            let count = json["replicas"]?.integer
        else {
            throw BusError(
                .badParams, "launcher/scale expects {\"module\": NAME, \"replicas\": NUMBER}; found something else")
        }
        guard let process = written.processes.first(where: { $0.name == row }) else {
            guard let replica = ReplicaName(row), !replicas(of: replica.row).isEmpty else { throw unknown(row) }
            throw BusError(.badParams, "\(row) is one of the replicas of \(replica.row): scale \(replica.row)")
        }
        guard let allowed = process.replicas else {
            throw BusError(
                .badParams, "\(row) has one process: give its row replicas: {least: 1, most: \(max(count, 2))}")
        }
        guard let count = Int(exactly: count), allowed.contains(count) else {
            throw BusError(
                .badParams,
                "\(row) may have \(allowed.lowerBound) to \(allowed.upperBound) replicas by its row, and \(count) were asked for"
            )
        }
        return (row, count)
    }

    /// Answers a call when a row's new replicas are ready, and those beyond the number have ended.
    private func awaitReplicas(of row: String, _ before: Int, _ count: Int, _ call: BusClient.Incoming) {
        let mine = supervisors.filter { ReplicaName($0.name)?.row == row }
        let coming = mine.filter {
            number($0) > before && number($0) <= count && $0.row.isStartedByItself && !$0.machine.isReady
        }
        let going = mine.filter { number($0) > count && !$0.machine.isAtRest }
        guard !(coming + going).isEmpty else { return link.client.reply(call.id) }
        let order = replicaOrders.begin(
            ReplicaOrders.Order(
                call: call.id, action: "scale", reason: "", isBus: false, next: (coming + going).map(\.name)))
        while let name = replicaOrders.take(of: order) {
            waiters.add(.order(order), until: going.contains { $0.name == name } ? .stopped : .ready, of: name)
        }
    }

    private func number(_ supervisor: Supervisor) -> Int { ReplicaName(supervisor.name)?.number ?? 0 }
}
