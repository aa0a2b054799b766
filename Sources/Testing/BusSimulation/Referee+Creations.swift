import StrataBus
import StrataCore

/// Judges the consent of owners to new instances, and the end of instances with their owners.
extension Referee {
    /// What the referee knows of the questions to owners.
    struct Creations {
        /// A question, by the session that got it and its id there.
        fileprivate struct Question: Hashable {
            let session: Int
            let id: UInt64
        }

        /// The instances that owners are asked about.
        fileprivate var asked: [Question: String] = [:]
        /// The session of the owner, by the instance.
        fileprivate var owners: [String: Int] = [:]
        /// The instances to which owners have consented.
        fileprivate(set) var consented: Set<String> = []
        /// The instances whose creators were notified of the end.
        fileprivate var ended: Set<String> = []
        /// The number of owners' refusals that no creator has got yet.
        fileprivate var refusals = 0
    }

    func asked(toCreate frame: SimulatedFrame, _ session: SimulatedSession) {
        let name = Self.instance(in: frame)
        expect(
            creations.owners.updateValue(session.number, forKey: name) == nil, .instances,
            "\(session.name) was asked about \(name), which was there before")
        creations.asked[.init(session: session.number, id: frame.id)] = name
    }

    func creationAnswered(_ id: UInt64, _ answer: SimulatedAnswer, of session: SimulatedSession) {
        guard let name = creations.asked.removeValue(forKey: .init(session: session.number, id: id)) else { return }
        switch answer.kind {
        case .reply, .error("unknown-action", _): creations.consented.insert(name)
        case .error, .partial: creations.refusals += 1
        }
    }

    /// Whether an error to a `create` is an owner's refusal.
    func isRefusedCreation(_ frame: SimulatedFrame, _ request: SimulatedRequest) -> Bool {
        guard case .create = request.target, creations.refusals > 0 else { return false }
        creations.refusals -= 1
        return true
    }

    func toldOfAnEnd(_ frame: SimulatedFrame, _ session: SimulatedSession) {
        let name = Self.instance(in: frame)
        expect(
            session.instances.created[name] == .max && creations.ended.insert(name).inserted, .instances,
            "\(session.name) was notified that \(name) has ended, and it has no such instance")
        let owner = creations.owners[name].map { sessions[$0] }
        // A session that another took over from may lose its instances before it ends.
        let mayLive = owner.map { $0.place >= 0 && app.modules[$0.place].row.replace == .overlap } ?? true
        expect(
            mayLive || owner?.connection?.hasSession != true, .instances,
            "\(session.name) was notified that \(name) has ended, and its owner is connected")
    }

    private static func instance(in frame: SimulatedFrame) -> String {
        (try? JSON(parsing: frame.body))?["instance"]?.string ?? ""
    }
}
