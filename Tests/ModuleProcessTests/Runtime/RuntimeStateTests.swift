import StrataCore
import Testing

@testable import Strata

/// The state that the runtime keeps without a connection: offers, observations and releases.
@Suite(.timeLimit(.hang))
struct RuntimeStateTests {
    init() { TestLoop.start }

    // MARK: Offers

    @ModuleActor private func exports(_ actions: String..., urls: [(String, String)] = []) -> Exports {
        var exports = Exports()
        for action in actions { exports.action(action) { _ in 1 } }
        for (path, to) in urls { exports.add(Exports.URLExport(host: "radio", path: path, to: to)) }
        return exports
    }

    @ModuleActor private func names(_ parts: [JSON]) -> [String] {
        parts.flatMap { part in
            let urls = (part["urls"]?.array ?? []).compactMap { $0["path"]?.string }
            return (part["interfaces"]?.object ?? []).map(\.name) + urls
        }
    }

    @ModuleActor private func finds(_ offers: Offers, _ action: String) -> Bool {
        Array(action.utf8).withUnsafeBytes { offers.actions.find($0) != nil }
    }

    @Test @ModuleActor func whatIsRegisteredIsInForceUntilItEnds() throws {
        let offers = Offers(exports("Player/play"))
        #expect(finds(offers, "Player/play") && offers.isAsAtStart)
        let radio = Registered(exports("Radio/tune"))
        try offers.add(radio, by: "Player")
        #expect(offers.contains(radio) && finds(offers, "Radio/tune") && finds(offers, "Player/play"))
        #expect(names([offers.offer(of: radio)]) == ["Radio"])
        let (ended, endedAgain) = (offers.remove(radio), offers.remove(radio))
        #expect(ended && !endedAgain && offers.isAsAtStart)
        #expect(!finds(offers, "Radio/tune") && finds(offers, "Player/play"))
    }

    @Test @ModuleActor func refusedRegistrationChangesNothing() throws {
        let offers = Offers()
        var observing = Exports()
        observing.observe("news") { _ in }
        #expect(throws: BusError.self) { try offers.add(Registered(observing), by: "Player") }
        #expect(offers.isAsAtStart)
        for number in 0..<Bus.mostRegistrations { try offers.add(Registered(exports("A\(number)/a")), by: "Player") }
        let error = #expect(throws: BusError.self) { try offers.add(Registered(exports("B/b")), by: "Player") }
        #expect(error?.code == .overloaded && error?.message.hasPrefix("Player has ") == true)
        #expect(!finds(offers, "B/b"))
    }

    @Test @ModuleActor func registrationThatAURLOfAnotherLeadsToStays() throws {
        let offers = Offers()
        let radio = Registered(exports("Radio/tune"))
        let page = Registered(exports(urls: [("/tune", "Radio/tune")]))
        try offers.add(radio, by: "Player")
        try offers.add(page, by: "Player")
        #expect(offers.refusal(ofEndOf: radio)?.code == .badParams)
        #expect(offers.refusal(ofEndOf: page) == nil)
    }

    @Test @ModuleActor func whatOthersOfferTooIsThereAgain() throws {
        let offers = Offers(exports("Player/play", urls: [("/play", "Player/play")]))
        let more = Registered(
            exports("Player/more", "Radio/tune", urls: [("/play", "Player/more"), ("/tune", "Radio/tune")]))
        try offers.add(more, by: "Player")
        let all = offers.withdrawal(of: more, [offers.offer(of: more)])
        #expect(names(all.again) == ["Player", "/play"])
        #expect(all.again[0]["urls"]?.array?[0]["to"] == "Player/play")
        #expect(names(all.gone).sorted() == ["/tune", "Radio"])
        // The bus has accepted nothing of it.
        #expect(offers.withdrawal(of: more, []) == Offers.Withdrawal())
    }

    // MARK: Observations

    @ModuleActor private func observing(_ name: String) -> Observing {
        Observing(name, object: nil, keep: .all) { _ in }
    }

    @Test @ModuleActor func numbersOfObservationsEndWithTheConnection() {
        let (one, other) = (observing("one"), observing("other"))
        var observations = Observations([one])
        observations.add(other)
        observations.subscribed(one, 7)
        observations.subscribed(other, nil)
        #expect(observations[7] === one && observations[8] == nil)
        observations.connectionLost()
        #expect(observations[7] == nil && observations.all.map(\.name) == ["one", "other"])
    }

    @Test @ModuleActor func observationThatIsGivenUpHasItsNumberOnce() {
        let (one, other) = (observing("one"), observing("other"))
        var observations = Observations([one, other])
        observations.subscribed(one, 7)
        let numbers = [observations.remove(one), observations.remove(one), observations.remove(other)]
        #expect(numbers == [7, nil, nil])
        #expect(observations[7] == nil && observations.all.isEmpty)
        // The answer to hello came later.
        observations.subscribed(other, 8)
        #expect(observations[8] == nil)
    }

    // MARK: Releases

    @Test @ModuleActor func releasesAreAskedForOneAtATime() {
        var releases = InstanceReleases()
        #expect(releases.isEmpty && releases.next == nil)
        releases.add("Cart#1")
        releases.add("Cart#2")
        #expect(releases.next == "Cart#2")
        releases.asked()
        #expect(releases.count == 1 && releases.next == nil)
        releases.answered()
        #expect(releases.next == "Cart#1")
        releases.connectionLost()
        #expect(releases.isEmpty && releases.next == nil)
    }
}
