import Glibc
import Strata
import StrataTesting
import Testing

/// Suggest's replicas, and the words that Finder sends them.
@Suite(.timeLimit(.minutes(10)))
struct SuggestReplicaTests {
    private let app: CatalogApp

    /// The first request starts two replicas; the third one is scaled up.
    init() throws {
        app = try CatalogApp(packages: 12)
        try app.tool.expectReply(to: try app.tool.call("Suggest/names", ["name": "package1"]))
        try app.tool.asked("launcher/scale", ["module": "Suggest", "replicas": 3])
        // It would start with the first request that none of the others takes.
        try app.tool.asked("launcher/start", ["module": "Suggest"])
        try app.tool.expectReply(to: try app.tool.call("Finder/find", ["words": ["number"]]))
    }

    /// Returns which replicas get the requests for Suggest that calls make.
    private func callees(_ count: Int, _ calls: () throws -> Void) throws -> [String] {
        let frames = try app.monitor(["kinds": ["call"]])
        defer { frames.close() }
        try calls()
        var callees: [String] = []
        while callees.count < count {
            let frame = try frames.next().json
            if frame["to"] == "Suggest/names", let callee = frame["callee"]?.string { callees.append(callee) }
        }
        return callees
    }

    private func similar(to word: String) throws -> JSON {
        let found = try app.tool.asked("Finder/find", ["words": [.string(word)]])
        #expect(found["found"] == [])
        return try #require(found["similar"])
    }

    @Test func callsWithoutAKeyTakeTurns() throws {
        let callees = try callees(3) {
            for _ in 0..<3 { _ = try app.tool.asked("Suggest/names", ["name": "zzz"]) }
        }
        #expect(Set(callees) == ["Suggest~1", "Suggest~2", "Suggest~3"])
        try app.end()
    }

    @Test func aWordGoesToTheReplicaThatHasHadIt() throws {
        let words = ["pakcage1", "pakcage2", "pakcage3"]
        let callees = try callees(6) {
            // Without keys, replicas take turns, and that in one order.
            for word in words + words.reversed() {
                let first = try similar(to: word).array?.first?.string
                #expect(first?.hasPrefix("package") == true)
            }
        }
        #expect(Set(callees[..<3]) == ["Suggest~1", "Suggest~2", "Suggest~3"])
        #expect(Array(callees[3...]) == callees[..<3].reversed())
        try app.end()
    }

    @Test func aWordOutlivesItsReplica() throws {
        var before: JSON = nil
        let callee = try callees(1) { before = try similar(to: "pakcage7") }[0]
        let pid = try app.pid(of: callee)
        #expect(kill(Int32(pid), SIGKILL) == 0)
        try app.waitUntil(callee, is: "ready", otherThan: pid)
        #expect(try similar(to: "pakcage7") == before)
        try app.end()
    }

    @Test func eachReplicaForgetsWhatHasChanged() throws {
        for _ in 0..<3 { _ = try app.tool.asked("Suggest/names", ["name": "package20"]) }
        try app.setPackages(20)
        try app.tool.expectReply(to: try app.tool.call("Catalog/import", nil, ["credit": 100]))
        for _ in 0..<3 {
            #expect(try app.tool.asked("Suggest/names", ["name": "package20"])["names"]?.array?.first == "package20")
        }
        try app.end()
    }

    @Test func theManifestBoundsTheNumberOfReplicas() throws {
        for number in [1, 5] as [Int64] {
            try app.tool.refused(
                "launcher/scale", ["module": "Suggest", "replicas": .integer(number)], with: "bad-params", ran: nil)
        }
        try app.end()
    }
}
