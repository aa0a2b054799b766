import StrataCore

/// What a row observes while no session of it takes the notices: the bus counts what the row
/// misses, and holds what wakes it until it is ready. A guest has none.
///
/// A plain value without I/O. `BusCore+Mailboxes.swift` decides when notices go into it.
struct Mailbox {
    /// The most notices that are held for a row.
    static let mostHeld = 64

    /// The observations whose notices come here now; the bus finds them by their names.
    private(set) var observations: [BoxedObservation] = []
    /// The notices that are held, oldest first.
    private(set) var held: [HeldNotice] = []
    /// The bytes of these notices, as they count against the row's limit.
    private(set) var bytes = 0
    /// The number of notices that the row's observations did not get.
    private(set) var missed: UInt64 = 0

    /// Whether notices of this target are held instead of delivered.
    func holds(_ target: Observation.Target) -> Bool { observations.contains { $0.wakes && $0.target == target } }

    /// Counts a notice that an observation doesn't get.
    mutating func miss(_ observation: BoxedObservation, _ count: Int = 1) {
        missed += UInt64(count)
        // Only what would have been held leaves a gap. Whoever observes without being there expects
        // to miss notices.
        if observation.wakes { observation.gap += count }
    }

    /// Holds a notice. The oldest ones make room for it, and a newer one of the same observation
    /// says how many are gone.
    /// - Parameter most: the most bytes of all held notices; a single one may exceed it, beside one
    ///   that is being delivered.
    /// - Returns: how many notices `keep: latest` replaced, and the notices that are held no more.
    mutating func hold(_ notice: HeldNotice, most: Int) -> (replaced: Int, dropped: [HeldNotice]) {
        var notice = notice
        var dropped: [HeldNotice] = []
        var replaced = 0
        let own = notice.observation
        if own.keep == .latest, let place = place(ofNext: own) {
            dropped.append(take(at: place))
            notice.missed += dropped[0].missed + 1
            replaced = 1
        }
        while held.count > begun, held.count - begun >= Self.mostHeld || bytes + notice.cost > most {
            let oldest = take(at: begun)
            dropped.append(oldest)
            missed += 1
            pass(oldest.missed + 1, from: oldest.observation, to: &notice)
        }
        notice.missed += own.gap
        own.gap = 0
        held.append(notice)
        bytes += notice.cost
        return (replaced, dropped)
    }

    /// Adds a gap to the next notice of the observation.
    private mutating func pass(_ gap: Int, from observation: BoxedObservation, to newest: inout HeldNotice) {
        if let next = place(ofNext: observation) {
            held[next].missed += gap
        } else if newest.observation === observation {
            newest.missed += gap
        } else {
            observation.gap += gap
        }
    }

    /// The number of notices that some of the session's observations have got: 1 or 0. Such a
    /// notice is neither replaced nor lost.
    private var begun: Int { held.first.map { $0.deliveredTo > 0 } == true ? 1 : 0 }

    private func place(ofNext observation: BoxedObservation) -> Int? {
        held.indices.dropFirst(begun).first { held[$0].observation === observation }
    }

    /// Notes that the first notice was delivered to one of the session's observations, and to those
    /// before it.
    /// - Parameter id: the observer's number of the observation.
    mutating func delivered(to id: UInt64) { held[0].deliveredTo = id }

    /// Takes out the first notice, which was delivered.
    mutating func takeFirst() -> HeldNotice { take(at: 0) }

    /// Takes out the notice that only some of a session's observations have got, because the session
    /// doesn't serve any more.
    mutating func takeBegun() -> HeldNotice? { begun > 0 ? take(at: 0) : nil }

    /// Drops all held notices, because the row can't be started.
    mutating func dropHeld() -> [HeldNotice] {
        defer { (held, bytes) = ([], 0) }
        for notice in held {
            missed += 1
            notice.observation.gap += notice.missed + 1
        }
        return held
    }

    /// Replaces the observations. Held notices stay if their observation still wakes the row.
    /// - Returns: the notices that are held no more.
    mutating func take(_ new: [BoxedObservation]) -> [HeldNotice] {
        for own in new where own.wakes { own.gap += gap(of: own.target) }
        observations = new
        var dropped: [HeldNotice] = []
        for index in held.indices.reversed() {
            if let own = new.first(where: { $0.wakes && $0.target == held[index].observation.target }) {
                held[index].observation = own
            } else {
                dropped.append(take(at: index))
            }
        }
        return dropped
    }

    /// The number of notices that were lost since the last one that is held, by their targets.
    var gaps: [(target: Observation.Target, gap: Int)] {
        observations.filter { $0.gap > 0 }.map { ($0.target, $0.gap) }
    }

    private func gap(of target: Observation.Target) -> Int {
        observations.first { $0.wakes && $0.target == target }?.gap ?? 0
    }

    /// Continues with what the previous program's bus counted and held.
    mutating func resume(missed: UInt64, _ held: [HeldNotice]) {
        (self.missed, self.held) = (missed, held)
        bytes = held.reduce(0) { $0 + $1.cost }
    }

    private mutating func take(at place: Int) -> HeldNotice {
        let notice = held.remove(at: place)
        bytes -= notice.cost
        return notice
    }
}

/// One of a row's observations while no session takes its notices.
final class BoxedObservation {
    /// Unowned, because a mailbox is emptied before its module is forgotten.
    unowned let module: ModuleRecord
    let target: Observation.Target
    let keep: AppTable.Keep
    /// Whether its notices start the module, and are held for it.
    let wakes: Bool
    /// The number of notices that were lost since the last one that is held or was delivered.
    var gap = 0

    init(_ observed: AppTable.Observed, of module: ModuleRecord, wakes: Bool) {
        self.module = module
        target = Observation.Target(observed)
        keep = observed.keep
        self.wakes = wakes
    }
}

/// A notice that is held for a row until it is ready.
struct HeldNotice {
    var observation: BoxedObservation
    /// The name that it is delivered under.
    let name: [UInt8]
    let notice: KeptNotice
    /// The rank of the sender.
    let rank: Int
    /// The bytes of its texts. The body may be held for several rows, and counts once for all.
    let textCost: Int
    /// The number of notices that were lost before it.
    var missed = 0
    /// The session's number of the last observation that has got it; 0 if none has.
    var deliveredTo: UInt64 = 0

    /// The bytes that count against the row's limit.
    var cost: Int { notice.body.bytes.count + textCost }
}

/// The observations of all mailboxes, by the name or the pattern that they are of.
struct MailboxTable: ~Copyable {
    final class List {
        fileprivate(set) var observations: [BoxedObservation] = []
    }

    private var byName = NameTable<List>()
    /// The number of held notices.
    private(set) var heldCount = 0
    /// The bytes of their texts.
    private(set) var textBytes = 0

    /// Whether every row is there, so that broadcasts needn't look.
    var isEmpty: Bool { byName.count == 0 }
    func find(_ name: UnsafeRawBufferPointer) -> List? { byName.find(name) }

    /// Whether some patterns begin like a name.
    func mayHavePattern(of name: UnsafeRawBufferPointer) -> Bool { byName.mayHavePattern(of: name) }

    func forEachPattern(of name: UnsafeRawBufferPointer, _ use: (List) -> Void) { byName.forEachPattern(of: name, use) }

    mutating func add(_ observation: BoxedObservation) {
        let list = byName.find(observation.target.observed) ?? List()
        if list.observations.isEmpty { byName.set(observation.target.observed, list) }
        list.observations.append(observation)
    }

    mutating func remove(_ observation: BoxedObservation) {
        guard let list = byName.find(observation.target.observed) else { return }
        list.observations.removeAll { $0 === observation }
        if list.observations.isEmpty { byName.remove(observation.target.observed) }
    }

    mutating func holds(_ notice: HeldNotice) {
        heldCount += 1
        textBytes += notice.textCost
        notice.notice.body.hold()
    }

    mutating func letsGo(of notice: HeldNotice) {
        heldCount -= 1
        textBytes -= notice.textCost
        notice.notice.body.letGo()
    }
}
