import Testing

@testable import StrataCore

@Suite(.timeLimit(.hang))
struct AdapterChainsTests {
    /// A leads to B, and B to I.
    private static let adapters: [AppTable.Adapter] = {
        var (a, b) = (AppTable.Adapter(name: "A", to: "B"), AppTable.Adapter(name: "B", to: "I"))
        a.actions = [.init(name: "one", to: "two")]
        b.actions = [.init(name: "two", to: "three"), .init(name: "one", to: "other")]
        a.notices = [.init(from: "b.done", to: "a.done"), .init(from: "i.gone", to: "a.gone")]
        b.notices = [.init(from: "i.done", to: "b.done")]
        return [a, b]
    }()

    @Test(.promise("M.58")) func eachAdapterOfAChainRenamesTheAction() throws {
        let chains = AdapterChains(Self.adapters)
        let chain = try #require(chains.chain("A", "one") { $0 == "I" })
        #expect(chain.interface == "I" && chain.action == "three")
        #expect(chain.steps.map(\.adapter.name) == ["A", "B"])
        #expect(chain.steps.map(\.action?.to) == ["two", "three"])
        let plain = try #require(chains.chain("A", "else") { $0 == "I" })
        #expect(plain.action == "else" && plain.steps.map(\.action) == [nil, nil])
        #expect(chains.chain("I", "one") { _ in false } == nil)
    }

    @Test func whatAModuleProvidesItselfEndsAChain() {
        let chain = AdapterChains(Self.adapters).chain("A", "one") { $0 == "B" }
        #expect(chain?.interface == "B" && chain?.action == "two")
    }

    @Test func noticesHaveTheProvidersNameOfTheChainsEnd() {
        #expect(
            AdapterChains(Self.adapters).noticeAliases == [
                .init(provider: "I", original: "i.done", name: "a.done", adapter: "A"),
                .init(provider: "I", original: "i.gone", name: "a.gone", adapter: "A"),
                .init(provider: "I", original: "i.done", name: "b.done", adapter: "B"),
            ])
    }

    @Test func cycleEnds() {
        let cycle = [AppTable.Adapter(name: "A", to: "B"), AppTable.Adapter(name: "B", to: "A")]
        #expect(AdapterChains(cycle).chain("A", "x") { _ in false }?.steps.count == 2)
    }
}
