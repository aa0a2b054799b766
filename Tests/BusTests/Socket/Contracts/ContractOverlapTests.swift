import StrataCore
import StrataTesting
import Testing

/// `contracts: enforced` under `replace: overlap`. A successor is compared at its hello, and again
/// when it takes over. Until then the session that serves counts, and afterwards no longer.
@Suite(.timeLimit(.hang))
struct ContractOverlapTests: ContractSuite {
    private var overlapping: AppTable {
        table { table in
            for row in [0, 1] {
                table.modules[row].start = .eager
                table.modules[row].replace = .overlap
                table.modules[row].stop = 60_000
            }
        }
    }

    private func serving(_ module: String, _ hello: JSON, _ bus: TestBus) throws -> OtherProcess {
        let process = try bus.process(of: module, hello)
        try process.peer.becomeReady()
        return process
    }

    /// Starts a row's next process, which stays in its setUp.
    private func next(_ module: String, _ hello: JSON, _ bus: TestBus) throws -> (OtherProcess, ReceivedFrame) {
        let process = try bus.process(of: module, hello, answersLifecycle: false)
        return (process, try process.peer.expectCall("module/setUp"))
    }

    private func takeOver(_ new: OtherProcess, _ setUp: ReceivedFrame) throws {
        new.peer.answersLifecycle = true
        try new.peer.reply(to: setUp)
        try new.peer.becomeReady()
    }

    /// Says the hello of a row's next process, which must be refused.
    private func refused(next module: String, _ hello: JSON, _ bus: TestBus) throws {
        let process = try OtherProcess(bus, module)
        let token = try bus.vouch(for: module, pid: process.pid)
        let id = try process.peer.sendHello(module, hello.with(["token": .string(token)]))
        try process.peer.expectRefusal(of: id, "incompatible")
    }

    @Test(.promise("5.54")) func aSuccessorIsComparedAtItsHello() throws {
        try TestBus.run(overlapping) { bus in
            let store = try serving("Store", provides("1.4"), bus)
            let shop = try serving("Shop", requires("Data@1.1"), bus)
            try refused(next: "Store", provides("1.0"), bus)
            try refused(next: "Shop", requires("Data@1.5"), bus)
            let id = try shop.peer.call("Data/read")
            try store.peer.reply(to: try store.peer.expectCall("Data/read"))
            try shop.peer.expectReply(to: id)
        }
    }

    /// Its own row's session doesn't hold it up.
    @Test(.promise("5.54")) func aSuccessorIsNotComparedWithItsOwnRow() throws {
        try TestBus.run(overlapping) { bus in
            let old = try serving("Store", provides("1.4").with(requires("Data@1.4")), bus)
            let (new, setUp) = try next("Store", provides("2.0").with(requires("Data@1.0")), bus)
            // Until it has taken over, the old one's versions count.
            try bus.module("Cart", requires("Data@1.2")).close()
            try bus.waitUntil("Cart", is: "absent")
            try refused("Cart", requires("Data@2.0"), bus)
            try takeOver(new, setUp)
            try refused("Cart", requires("Data@1.2"), bus)
            _ = try bus.module("Cart", requires("Data@2.0"))
            try old.peer.expectEnd("shutting-down")
        }
    }

    @Test(.promise("5.54")) func aSuccessorThatFitsNoLongerEndsWhenItIsReady() throws {
        try TestBus.run(overlapping) { bus in
            let old = try serving("Store", provides("1.4"), bus)
            let (new, setUp) = try next("Store", provides("1.1"), bus)
            let cart = try bus.module("Cart", requires("Data@1.3"))
            try new.peer.reply(to: setUp)
            try new.peer.reply(to: try new.peer.expectCall("module/initialize"))
            let error = try new.peer.expectEnd("incompatible")
            #expect(error.message.contains("Store serves version 1.1 of Data, and Cart requires 1.3"), "\(error)")
            let id = try cart.call("Data/read")
            try old.peer.reply(to: try old.peer.expectCall("Data/read"))
            try cart.expectReply(to: id)
            #expect(try bus.state(of: "Store") == "ready")
        }
    }

    @Test(.promise("5.54")) func aSuccessorThatFitsNoLongerDoesNotServeAloneEither() throws {
        try TestBus.run(overlapping) { bus in
            let old = try serving("Store", provides("1.4"), bus)
            let (new, _) = try next("Store", provides("1.1"), bus)
            _ = try bus.module("Cart", requires("Data@1.3"))
            old.die()
            try new.peer.expectEnd("incompatible")
            try bus.waitUntil("Store", is: "restarting")
        }
    }

    /// What a part of a successor brings is compared with the sessions that serve, and comes into
    /// force with the rest.
    @Test(.promise("5.54")) func whatASuccessorRegistersIsCompared() throws {
        try TestBus.run(overlapping) { bus in
            let old = try serving("Store", provides("1.4"), bus)
            _ = try bus.module("Cart", requires("Data@1.3", "More@1.0"))
            let (new, setUp) = try next("Store", provides("1.4"), bus)
            try new.peer.refused("bus/register", provides("1.2"), with: "incompatible")
            try new.peer.refused("bus/register", provides("2.0", "More"), with: "incompatible")
            try new.peer.asked("bus/register", provides("1.1", "More"))
            try takeOver(new, setUp)
            try refused("Guest", requires("More@1.2"), bus)
            _ = try bus.module("Guest", requires("More@1.1"))
            try old.peer.expectEnd("shutting-down")
        }
    }

    @Test(.promise("5.54")) func whatTheOldSessionRequiredNoLongerCounts() throws {
        try TestBus.run(overlapping) { bus in
            let old = try serving("Shop", requires("Data@1.4", "Else@1.0"), bus)
            let (new, setUp) = try next("Shop", requires("Data@1.0"), bus)
            try refused("Early", provides("1.1"), bus)
            try takeOver(new, setUp)
            _ = try bus.module("Provider", provides("1.1"))
            _ = try bus.module("Other", provides("3.0", "Else"))
            try old.peer.expectEnd("shutting-down")
        }
    }
}
