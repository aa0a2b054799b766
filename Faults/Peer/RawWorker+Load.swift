internal import FaultRecord
internal import Strata
internal import StrataTesting

/// The requests of a peer without the runtime, several at a time.
extension RawWorker {
    private static let weights: [(RequestKind, Int)] = [
        (.atOnce, 10), (.async, 4), (.large, 1), (.open, 3), (.authorized, 2), (.hurried, 2), (.cancelled, 2),
        (.onDemand, 1), (.nested, 2), (.keyed, 4),
    ]
    private static let mostOpen = 6
    private static let callees = Role.rows.filter { $0.player == .runtime && $0.start != .onDemand }
    private static let keyed = Role.rows.filter { $0.replicas != nil }
    private static let wanted = Role.rows.filter { $0.start == .onDemand }

    func makeLoad(_ peer: RawPeer) throws {
        guard open.count < Self.mostOpen else { return }
        made += 1
        let kind = generator.pick(weighted: Self.weights)
        let role = generator.pick(targets(of: kind).filter(mayCall))
        let (target, key) = (role.name, kind.hasKey(to: role) ? UInt8(generator.number(1...Role.keys)) : 0)
        let id = made
        let number = RequestNumber(process: log.process, index: id).value
        let callee = UInt32(Role.index(of: target) ?? 0) + 1
        log.write(Record(.sent, kind: kind.rawValue, code: key, extra: callee, number: number))
        open.insert(id)
        let deadline = kind == .hurried ? generator.number(1...30) : Int(member.patience.components.seconds) * 1_000
        var fields = [JSON.Member("deadline", .integer(Int64(deadline)))]
        if key > 0 { fields.append(JSON.Member("key", .string("key \(key)"))) }
        let members = JSON.object(fields)
        guard kind != .open else {
            try peer.open("faults://\(target.lowercased())/do/\(number)", members, id: id)
            return
        }
        let action =
            switch kind {
            case .async: "wait"
            case .large: "large"
            case .authorized: "checked"
            case .hurried, .cancelled: "slow"
            case .nested: "nested"
            default: "echo"
            }
        try peer.call("\(target)/\(action)", ["n": .integer(Int64(number))], members, id: id)
        if kind == .cancelled { try peer.cancel(id) }
    }

    private func targets(of kind: RequestKind) -> [Role] {
        switch kind {
        case .onDemand: Self.wanted
        case .keyed: Self.keyed
        default: Self.callees
        }
    }

    /// Whether a role can be called. Guests use the modules of their own node only.
    private func mayCall(_ target: Role) -> Bool {
        role.player != .guest || member.placement.homes(of: target).contains(member.node)
    }
}
