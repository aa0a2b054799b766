import StrataCore
import StrataManifest
import Testing

/// The key `replicas` of a row.
@Suite(.timeLimit(.hang))
struct ManifestReplicaTests {
    private static func manifest(_ rows: String, _ extra: String = "") -> String {
        "app: a\n\(extra)\nmodules:\n  \(rows)"
    }

    @Test(.promise("M.169"), arguments: [("3", 3, 3), ("{least: 1, most: 64}", 1, 64)])
    func aRowHasANumberOrTwoBounds(value: String, least: Int, most: Int) throws {
        let manifest = try load(Self.manifest("A: {run: [a], provides: [I], replicas: \(value)}"))
        #expect(manifest.processes[0].replicas == least...most)
        #expect(manifest.table.modules.map(\.name) == ["A"])
        for (wanted, count) in [(nil, least), (0, least), (2, min(max(2, least), most)), (99, most)] {
            let rows = manifest.inForce(wanted.map { ["A": $0] } ?? [:])
            #expect(rows.table.modules.map(\.name) == (1...count).map { "A~\($0)" })
            #expect(rows.processes.map(\.name) == rows.table.modules.map(\.name))
            // The broker reads the same rows.
            let table = try AppTable(json: rows.table.json())
            #expect(table == rows.table && table.modules.allSatisfy { $0.replica?.row == "A" && $0.provides == ["I"] })
        }
    }

    @Test(
        .promise("M.169"),
        arguments: [
            ("A: {replicas: 0}", "modules.A.replicas: expected an integer from 1 to 64"),
            ("A: {replicas: 65}", "modules.A.replicas: expected an integer from 1 to 64"),
            ("A: {replicas: many}", "modules.A.replicas: expected"),
            ("A: {replicas: {least: 2}}", "modules.A.replicas: expected least and most; most is missing"),
            ("A: {replicas: {least: 3, most: 2}}", "modules.A.replicas: expected least not above most; found 3 and 2"),
            ("A: {replicas: {least: 1, most: 2, now: 1}}", "modules.A.replicas.now: unknown key"),
            ("A: {observes: [{name: n, share: true}]}", "modules.A.observes: expected the key replicas beside share"),
            ("A~1: {run: [a]}", "modules.A~1: expected"),
            (
                "A: {start: on-demand, run: [a], replicas: 2, wakes: [n], observes: [{name: n, share: true}]}",
                "modules.A.observes: expected n either in wakes or with share: true; found both"
            ),
        ]) func mistakesAreNamed(row: String, message: String)
    {
        let found = errors(Self.manifest(row))
        #expect(found.count == 1 && found[0].contains(message), "\(found)")
    }

    @Test(.promise("M.169")) func theAuthorizerHasNone() throws {
        let authorizer = errors(Self.manifest("A: {run: [a], provides: [G], replicas: 2}", "authorizer: G"))
        #expect(authorizer.count == 1 && authorizer[0].contains("expected no replicas of the authorizer"))
    }

    @Test(.promise("N.53"), arguments: ["x": true, "[x]": true, "[x, y]": false, "all": false])
    func oneNodeHasThem(place: String, isRight: Bool) throws {
        let nodes = try load(Self.manifest("A: {run: [a], replicas: 2, node: \(place)}", "nodes: {x: {}, y: {}}"))
        let found = ManifestReview(nodes).errors.map(\.description)
        #expect(found.count == (isRight ? 0 : 1))
        #expect(found.allSatisfy { $0.contains("modules.A.replicas: a row with replicas runs on one node") })
    }

    @Test(.promise("N.54")) func onlyItsNodeHasARowForEachReplica() throws {
        var manifest = try load(Self.manifest("A: {run: [a], replicas: 2, node: x}", "nodes: {x: {}, y: {}}"))
        for (node, names) in [("x", ["A~1", "A~2"]), ("y", ["A"])] {
            manifest.table.node = node
            #expect(manifest.inForce().table.modules.map(\.name) == names)
        }
    }
}

private func load(_ text: String) throws -> Manifest { try TemporaryManifest.load(Array(text.utf8)) }

private func errors(_ text: String) -> [String] { TemporaryManifest.errors(Array(text.utf8)) }
