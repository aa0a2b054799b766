import StrataCore
import StrataTesting
import TestSupport
import Testing

@testable import StrataManifest

/// The manifest's JSON Schema and the reader agree, because both are made of the shapes.
///
/// The schema is never stricter: `TemporaryManifest` and `ManifestFiles` compare it with each manifest that a test of
/// this target reads.
@Suite(.timeLimit(.hang))
struct ManifestSchemaTests {
    private let whole: JSON
    private let places: [ManifestPlace]
    private let judge = SchemaJudge()

    init() throws {
        whole = try #require(SchemaJudge.json(Array(WholeManifest.text.utf8)))
        places = ManifestPlace.all(in: whole)
        // Else each changed manifest would be refused, too.
        try #require(judge.complaint(whole) == nil)
    }

    /// Returns what the reader says of a manifest that isn't written.
    private func errors(_ manifest: JSON, shapes: ManifestShapes = .all) -> [ManifestError] {
        let path = "/tmp/strata.yaml"
        do throws(ManifestErrors) {
            _ = try Manifest.load(
                path: path, environment: [:], unwritten: [path: manifest.encoded()], shapes: shapes)
            return []
        } catch { return error.errors }
    }

    /// Fails unless both refuse a manifest, the reader at the path.
    private func expectRefused(_ manifest: JSON, at path: String, _ what: String) {
        #expect(judge.complaint(manifest) != nil, "the schema takes \(what) at \(path)")
        #expect(errors(manifest).contains { $0.key.hasPrefix(path) }, "the reader takes \(what) at \(path)")
    }

    @Test(.promise("M.164")) func aManifestWithEveryKeyIsTakenByBoth() {
        #expect(errors(whole).isEmpty)
        #expect(judge.complaint(whole) == nil)
        let keys = Set(places.compactMap { place in place.key.map { "\($0.shape).\($0.name)" } })
        for name in ManifestShape.Name.allCases {
            for key in ManifestShapes.all[name].names { #expect(keys.contains("\(name).\(key)")) }
        }
    }

    @Test(.promise("M.164")) func aWrongValueIsRefusedByBothAtEachKey() {
        for place in places {
            let others = ValueKind.allCases.filter { !place.type.kinds.contains($0) }.map(\.sample)
            for value in others + place.type.wrong {
                expectRefused(place.replaced(by: value, in: whole), at: place.path, "\(value)")
            }
        }
    }

    /// What only the reader knows: names, ranges of times, and what two keys mean together.
    private static let readersOwn = [
        "expected a frame with room", "expected a time from", "expected a user of", "expected a group of",
        "expected berlin or tokyo",
    ]

    @Test(.promise("M.164")) func aRightValueIsTakenByBothAtEachKey() {
        for place in places {
            for value in place.type.right {
                let manifest = place.replaced(by: value, in: whole)
                #expect(judge.complaint(manifest) == nil, "the schema refuses \(value) at \(place.path)")
                let own = errors(manifest).filter { error in
                    error.key == place.path && !Self.readersOwn.contains { error.message.hasPrefix($0) }
                }
                #expect(own.isEmpty, "the reader refuses \(value)")
            }
        }
    }

    @Test(.promise("M.164")) func anUnknownKeyIsRefusedByBothInEachMapping() {
        for place in places {
            guard case .object = place.value, case .mapping = place.type else { continue }
            let manifest = place.changed(in: whole) { $0 + [.init("unknown.key", 1)] }
            #expect(judge.complaint(manifest) != nil, "the schema takes it at \(place.path)")
            #expect(errors(manifest).contains { $0.message.hasPrefix("unknown key") }, "at \(place.path)")
        }
    }

    @Test(.promise("M.164")) func aMissingKeyIsRefusedByBoth() {
        for place in places {
            guard case .mapping(let name) = place.type else { continue }
            let shape = ManifestShapes.all[name]
            for key in shape.keys where key.isRequired {
                let manifest = place.changed(in: whole) { $0.filter { $0.name != key.name } }
                #expect(judge.complaint(manifest) != nil && !errors(manifest).isEmpty, "\(place.path): \(key.name)")
            }
            guard !shape.oneOf.isEmpty, case .object(let members) = place.value else { continue }
            let none = place.changed(in: whole) { $0.filter { !shape.oneOf.contains($0.name) } }
            expectRefused(none, at: place.path, "none of \(shape.oneOf)")
            let missing = shape.oneOf.filter { name in !members.contains { $0.name == name } }
            let all = place.changed(in: whole) { $0 + missing.map { .init($0, "/x") } }
            expectRefused(all, at: place.path, "all of \(shape.oneOf)")
        }
    }

    @Test(.promise("M.164")) func aBadNameAndARepeatedOneAreRefusedByBoth() {
        for place in places {
            switch (place.type, place.value) {
            case (.map(.some, _, _), .object(let members)):
                let manifest = place.changed(in: whole) { $0 + [.init("", members[0].value)] }
                #expect(judge.complaint(manifest) != nil && !errors(manifest).isEmpty, "at \(place.path)")
            case (.rows, _):
                let manifest = place.changed(in: whole) { $0 + [.init("1x", ["node": "berlin"])] }
                #expect(judge.complaint(manifest) != nil && !errors(manifest).isEmpty, "at \(place.path)")
            case (.list(_, _, isDistinct: true), .array(let values)):
                expectRefused(place.replaced(by: .array(values + [values[0]]), in: whole), at: place.path, "twice")
            default: continue
            }
        }
        let many = JSON.array((0...16).map { "tls://n\($0).example" })
        for place in places where place.path == "federation.servers" || place.path == "include" {
            expectRefused(place.replaced(by: many, in: whole), at: place.path, "17 elements")
        }
        for place in places where place.path == "nodes" {
            let manifest = place.changed(in: whole) { $0 + (0...31).map { .init("n\($0)", nil) } }
            expectRefused(manifest, at: place.path, "34 nodes")
        }
    }

    @Test(.promise("M.164")) func aKeyThatIsNotDeclaredIsRefused() {
        for place in places {
            guard let key = place.key else { continue }
            let shapes = ManifestShapes.all.without(key.name, of: key.shape)
            let unknown = errors(whole, shapes: shapes).filter { $0.message.hasPrefix("unknown key") }
            #expect(unknown.contains { $0.key == place.path }, "the reader has \(key) of its own")
            #expect(
                SchemaJudge(ManifestSchema(shapes).json).complaint(whole) != nil, "the schema has \(key) of its own")
        }
    }

    /// Values near the edge of a type: the schema may not refuse one that the reader takes.
    @Test(.promise("M.164")) func theSchemaIsNotStricterThanTheReader() throws {
        let odd: [JSON] = [
            nil, true, 0, 1, -1, 2.5, 4096, "", " ", "a", "A", "1", "A.b-c_d", "a b", "é", "*", "/", "/a", "a/b", "A/b",
            "a=b", "5s", "5 s", "05s", "0ms", "8KiB", "8 KiB", "5 ", "all", "off", "root", "basic", "topout", "Login",
            "LoginRouter", "Login@2.1", "tls://[::1]:4222", "/run/a b.sock", "*.yaml", "/etc/none-such-*.yaml", [],
            ["a"],
            ["Login"], ["root"], [1, 1], .object([]), ["a": "b"], ["A": nil], ["name": "x"], ["every": "5s"],
        ]
        for place in places.dropFirst() {
            let schema = JSON.object(place.type.keywords)
            for value in odd where place.type.kinds.contains(ValueKind(value)) {
                guard let complaint = judge.complaint(value, by: schema) else { continue }
                let isRefused = !errors(place.replaced(by: value, in: whole)).isEmpty
                #expect(isRefused, "the reader takes \(value) at \(place.path), and the schema says \(complaint)")
            }
        }
        let folder = "Fuzzing/Corpus/manifest"
        let inputs = try Repository.entries(folder)
        #expect(inputs.count > 100)
        for name in inputs {
            let path = Repository.path("\(folder)/\(name)")
            guard let manifest = try? Manifest.load(path: path, environment: [:]) else { continue }
            SchemaJudge.expectFit(manifest)
        }
    }

    @Test(.promise("M.164")) func theManifestsOfExamplesAndPagesFit() throws {
        var count = 0
        for path in [
            "Examples/Catalog/strata.yaml", "Examples/Catalog/nodes.yaml", "Web/Tests/Browser/app/strata.yaml",
        ] {
            let value = try #require(SchemaJudge.json(Array(try Repository.text(path).utf8)))
            #expect(judge.complaint(value) == nil, "\(path)")
        }
        let pages = try Repository.entries("docs").filter { $0.hasSuffix(".md") }.map { "docs/\($0)" }
        for path in ["README.md", "clients/python/README.md"] + pages {
            for sample in try Page(Repository.path(path)).samples where sample.language == "yaml" && !sample.isOnlyShown
            {
                let text = (sample.given + sample.lines).map { $0 + "\n" }.joined()
                let value = try #require(SchemaJudge.json(Array(text.utf8)))
                #expect(judge.complaint(value) == nil, "\(path):\(sample.line)")
                count += 1
            }
        }
        #expect(count > 5)
    }

    @Test(.promise("M.164")) func theSchemaOfTheProjectIsUpToDate() throws {
        let isSame = try Repository.text("docs/strata.schema.json") == ManifestSchema().text
        #expect(isSame, "it is an older one: run scripts/strata schema > docs/strata.schema.json")
        #expect(try JSON(parsing: Array(ManifestSchema().text.utf8)) == ManifestSchema().json)
    }

    @Test(.promise("M.164")) func eachKeyHasASentence() {
        for name in ManifestShape.Name.allCases {
            for key in ManifestShapes.all[name].keys {
                #expect(key.meaning.hasSuffix(".") && key.meaning.count < 120, "\(name).\(key.name)")
                guard let standard = key.standard, let schema = property(key.name, of: name) else { continue }
                #expect(judge.complaint(standard, by: schema) == nil, "the default of \(name).\(key.name) is wrong")
            }
        }
    }

    private func property(_ key: String, of name: ManifestShape.Name) -> JSON? {
        let schema = ManifestSchema().json
        return (name == .app ? schema : schema["definitions"]?[name.rawValue])?["properties"]?[key]
    }
}
