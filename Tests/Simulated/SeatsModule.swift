import Strata
import StrataTesting

/// Sells seats, and lets `Bank` take the money. docs/simulation.md shows it, with its mistake.
class SeatsModule: Module {
    static let name = "Seats"
    let bus: Bus
    var free = 1

    required init(bus: Bus) { self.bus = bus }

    func register(_ exports: inout Exports) {
        exports.action("Seats/book") { _ in try await self.book() }
    }

    func book() async throws -> JSON {
        guard free > 0 else { throw ModuleError("Seats.sold-out", "no seat is free") }
        try await bus.call("Bank/pay", ["euros": 20])
        free -= 1
        return [:]
    }
}

/// The same module without the mistake: it takes the seat before the wait.
final class MendedSeatsModule: SeatsModule {
    override func book() async throws -> JSON {
        guard free > 0 else { throw ModuleError("Seats.sold-out", "no seat is free") }
        free -= 1
        do { return try await bus.call("Bank/pay", ["euros": 20]) } catch {
            free += 1
            throw error
        }
    }
}

/// The test that docs/simulation.md shows.
enum LastSeat {
    static func isSoldOnce<M: Module>(by seats: M.Type) throws {
        let table = AppTable.testing(
            .manual("Bank", provides: ["Bank"]), .manual("Seats", rank: 1, provides: ["Seats"]),
            .manual("Ann", rank: 2), .manual("Ben", rank: 2))

        try Simulation.run(table, seeds: 1...1_000) { app in
            try app.play("Bank", provides: ["Bank"]) { $0.answers("Bank/pay") { _ in [:] } }
            try app.start(seats)
            let (ann, ben) = (try app.module("Ann"), try app.module("Ben"))
            let (one, other) = (try ann.call("Seats/book"), try ben.call("Seats/book"))
            let answers = [try ann.answer(to: one).kind, try ben.answer(to: other).kind]
            guard answers.contains("error") else { throw Unmet("the last seat was sold twice") }
        }
    }
}
