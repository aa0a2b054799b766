import StrataCore
import StrataOperator
import TestSupport
import Testing

/// The trees of open requests that `strata why --stuck` shows.
@Suite(.timeLimit(.hang))
struct RequestTreeTests {
    private func request(_ id: Int, _ from: String, _ to: String, of module: String?, parent: Int? = nil) -> JSON {
        var members: [JSON.Member] = [
            .init("id", .integer(Int64(id))), .init("from", .string(from)), .init("to", .string(to)),
            .init("kind", "call"), .init("state", "delivered"), .init("since", 5),
        ]
        if let module { members.append(.init("module", .string(module))) }
        if let parent { members.append(.init("parent", .integer(Int64(parent)))) }
        return .object(members)
    }

    private func tree(_ requests: JSON...) -> RequestTree { RequestTree(["requests": .array(requests)]) }

    @Test func eachRequestStandsBelowTheOneItWasMadeFor() {
        let tree = tree(
            request(1, "operator", "Shop/a", of: "Shop"), request(2, "Menu", "Log/b", of: "Log"),
            request(3, "Shop", "User/c", of: "User", parent: 1), request(4, "Shop", "Log/d", of: "Log", parent: 1),
            request(5, "User", "Log/e", of: "Log", parent: 3), request(6, "operator", "bus/watch", of: nil),
            request(7, "operator", "bus/monitor", of: nil), request(8, "Log", "Shop/f", of: "Shop", parent: 99))
        #expect(tree.trees.map { $0.map(\.to) } == [["Shop/a", "User/c", "Log/e", "Log/d"], ["Log/b"], ["Shop/f"]])
        #expect(tree.trees.first?.map(\.indent) == [0, 1, 2, 1])
        #expect(tree.trees.joined().allSatisfy { !$0.isCircle })
        #expect(tree.trees(with: "User").map { $0[0].to } == ["Shop/a"])
        #expect(tree.trees(with: "Menu").map { $0[0].to } == ["Log/b"])
        #expect(tree.trees(with: "Nobody").isEmpty && tree.omitted == 0)
    }

    @Test func aModuleThatIsInAChainTwiceIsACircle() {
        let tree = tree(
            request(1, "Shop", "User/a", of: "User"), request(2, "User", "Log/b", of: "Log", parent: 1),
            request(3, "Log", "Shop/c", of: "Shop", parent: 2), request(4, "Log", "Disc/d", of: "Disc", parent: 2),
            request(5, "Shop", "User/e", of: "User", parent: 3))
        #expect(tree.trees.first?.filter(\.isCircle).map(\.to) == ["Shop/c", "User/e"])
    }

    /// A report and its notices have one module.
    @Test func aNoticeClosesNoCircle() {
        let report = request(1, "Shop", "news", of: "Log")
        let notice = request(2, "Shop", "news", of: "Log", parent: 1)
        let kind = notice.object?.map { $0.name == "kind" ? .init("kind", "notice") : $0 } ?? []
        #expect(tree(report, .object(kind)).trees.first?.contains { $0.isCircle } == false)
    }

    /// What isn't as the protocol says is shown as far as it goes. A parent that is its own child,
    /// which no bus sends, ends nowhere and is left out.
    @Test func answersThatAreNoneAreShownAsFarAsTheyGo() {
        #expect(RequestTree([:]).trees.isEmpty && RequestTree(nil).trees.isEmpty)
        #expect(RequestTree(["requests": [7, [:]], "omitted": 3]).trees.count == 2)
        #expect(tree(request(1, "A", "B/b", of: "B", parent: 1)).trees.isEmpty)
    }
}
