import StrataCore
import TestSupport
import Testing

/// `strata schema`. What the schema says is tested beside the reader of manifests.
@Suite(.timeLimit(.hang))
struct CommandSchemaTests {
    @Test(.promise("M.164")) func theSchemaOfTheProjectIsWhatTheCommandPrints() async throws {
        let run = try await CommandRun.of(["schema"])
        let isSame = try Repository.text("docs/strata.schema.json") == run.output
        #expect(isSame, "it is an older one: run scripts/strata schema > docs/strata.schema.json")
        #expect(run.status == 0 && run.error == "")
        let definitions = try JSON(parsing: run.output)["definitions"]
        #expect(definitions?["rows"] != nil, "docs/manifest.md names this definition")
    }
}
