import Glibc
import Strata
import StrataTesting

/// Plays a scenario with `Simulation`, in a process without a module's loop: `SimulatedModules
/// NAME`. Prints the result or the failure.
@main
enum Simulated {
    static func main() {
        guard CommandLine.arguments.count == 2, let scenario = Scenario.all[CommandLine.arguments[1]] else {
            print("usage: SimulatedModules \(Scenario.all.keys.sorted().joined(separator: " | "))")
            exit(2)
        }
        do {
            try scenario()
            exit(0)
        } catch {
            print(error)
            exit(1)
        }
    }
}

enum Scenario {
    static let table = AppTable.testing(
        .manual("Waiting", provides: ["Waiting"]), .manual("Bank", provides: ["Bank"]), .manual("Ann", rank: 1),
        .manual("Ben", rank: 1))

    static let all: [String: @Sendable () throws -> Void] = [
        "seats": { try LastSeat.isSoldOnce(by: SeatsModule.self) },
        "mended-seats": { try LastSeat.isSoldOnce(by: MendedSeatsModule.self) },
        "orders": orders,
        "hours": hours,
        "deadline": deadline,
        "retries": retries,
        "blocking": { try answers42("Waiting/block") },
        "detached": { try answers42("Waiting/detach") },
        "day": day,
        "nested": { try Simulation.run(table, seeds: 1...1) { _ in try Simulation.run(table) { _ in } } },
        "process": { try Simulation.run(table, seeds: 1...1) { try $0.start("/bin/true", as: "Waiting") } },
        "bus-back": busBack,
        "bus-gone": busGone,
        "killed": killed,
        "terminated": terminated,
        "failed": { try ask("Waiting/fail") { try $0.pass(.seconds(1)) } },
        "task-sleep": { try ask("Waiting/sleep") { _ in } },
        "task-sleep-apart": { try ask("Waiting/sleepApart") { _ in } },
        "thread": { try ask("Waiting/thread") { _ in } },
        "spin": { try ask("Waiting/spin") { _ in } },
        "unfinished": {
            try Simulation.run(table, seeds: 3...3) {
                try $0.play("Bank", provides: ["Bank"]) { $0.expectCall("Bank/pay") }
            }
        },
    ]

    /// Prints the orders in which the calls of two peers, and two calls of one peer, arrive.
    private static func orders() throws {
        var orders: Set<String> = []
        try Simulation.run(table, seeds: 1...50) { app in
            let bank = try app.module("Bank", ["interfaces": ["Bank": [:]]])
            let (ann, ben) = (try app.module("Ann"), try app.module("Ben"))
            for (peer, body) in [(ann, "a1"), (ann, "a2"), (ben, "b1")] { try peer.call("Bank/pay", .string(body)) }
            let bodies = try (0..<3).map { _ in try bank.expectCall("Bank/pay").json.string ?? "" }
            orders.insert(bodies.joined(separator: " "))
        }
        print(orders.sorted().joined(separator: ", "))
    }

    private static func hours() throws {
        try Simulation.run(table, seeds: 1...20) { app in
            try app.start(WaitingModule.self)
            let begin = app.elapsed
            let call = try app.operator().call("Waiting/nap", nil, ["deadline": 4_000_000])
            let left = try app.operator().answer(to: call, within: .seconds(4_000)).json.integer ?? 0
            let took = app.elapsed - begin
            guard (390...400).contains(left), took > .seconds(3_599), took < .seconds(3_601) else {
                throw Unmet("\(left) s were left after \(took)")
            }
        }
    }

    private static func deadline() throws {
        try ask("Waiting/nap", ["deadline": 1_000]) { _ in }
    }

    private static func retries() throws {
        try Simulation.run(table, seeds: 1...20) { app in
            try app.start(WaitingModule.self)
            try app.operator().asked("Waiting/retry")
            try app.pass(.seconds(3_599))
            let attempts = try app.operator().asked("Waiting/attempts")
            guard attempts == 6 else { throw Unmet("\(attempts) attempts in an hour") }
        }
    }

    private static func day() throws {
        try Simulation.run(table, seeds: 1...20) { app in
            try app.start(WaitingModule.self)
            try app.pass(.seconds(86_399))
            guard try app.operator().asked("Waiting/attempts") == 0 else { throw Unmet("the day was too short") }
            try app.pass(.seconds(2))
            guard try app.operator().asked("Waiting/attempts") == 100 else { throw Unmet("the day was too long") }
        }
    }

    private static func answers42(_ action: String) throws {
        try Simulation.run(table, seeds: 1...20) { app in
            try app.start(WaitingModule.self)
            guard try app.operator().asked(action) == 42 else { throw Unmet("it came to something else") }
        }
    }

    private static func busBack() throws {
        try Simulation.run(table, seeds: 1...20) { app in
            let module = try app.start(WaitingModule.self)
            app.killBroker()
            try app.pass(.seconds(20))
            try app.startBroker()
            try app.waitUntil("Waiting", is: "ready")
            guard try app.operator().asked("Waiting/attempts") == 0, module.end == nil else {
                throw Unmet("it is gone")
            }
        }
    }

    private static func busGone() throws {
        try Simulation.run(table, seeds: 1...20) { app in
            let module = try app.start(WaitingModule.self)
            app.killBroker()
            try app.pass(.seconds(29))
            guard module.end == nil else { throw Unmet("it has given up early") }
            try app.pass(.seconds(2))
            guard module.end == .exit(1) else { throw Unmet("it has not given up") }
            if app.seed == 1 { print(module.lastWords ?? "") }
        }
    }

    private static func killed() throws {
        try Simulation.run(table, seeds: 1...20) { app in
            let module = try app.start(WaitingModule.self)
            let tool = try app.operator()
            let call = try tool.call("Waiting/nap")
            try tool.settle()
            module.kill()
            let answer = try tool.answer(to: call)
            guard answer.code == "died" else { throw Unmet("\(answer)") }
            try app.start(WaitingModule.self)
            guard try tool.asked("Waiting/attempts") == 0 else { throw Unmet("it is not a new one") }
        }
    }

    private static func terminated() throws {
        try Simulation.run(table, seeds: 1...20) { app in
            let module = try app.start(WaitingModule.self)
            module.terminate()
            try app.pass(.seconds(1))
            guard module.end == .exit(0) else { throw Unmet("\(String(describing: module.end))") }
        }
    }

    /// Asks a module that waits, and prints its answer.
    private static func ask(_ action: String, _ members: JSON = [:], then: (Simulation) throws -> Void) throws {
        try Simulation.run(table, seeds: 7...7) { app in
            try app.start(WaitingModule.self)
            let answer = try app.operator().answer(to: try app.operator().call(action, nil, members))
            print(answer)
            try then(app)
        }
    }
}

struct Unmet: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
