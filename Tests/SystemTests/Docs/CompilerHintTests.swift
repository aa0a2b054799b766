import StrataTesting
import Testing

/// What the compiler says of code that uses an API in the wrong way.
@Suite(.timeLimit(.hang))
struct CompilerHintTests {
    @Test(
        .promise("S.4"),
        arguments: [
            ("exports.action(Beats.self) { _ in [1, 2] }", "a stream: use exports.stream"),
            ("exports.stream(Play.self) { _ in 1 }", "one reply: use exports.action"),
            ("_ = try await bus.call(Beats())", "a stream: use bus.stream or bus.follow"),
            ("_ = try bus.stream(Play())", "one reply: use bus.call"),
        ])
    func streamsAndActionsThatAreMixedUpAreNamed(_ statement: String, _ hint: String) throws {
        let folder = try TemporaryFolder()
        let text = """
            import Strata

            enum Drum: Interface { static let name = "Drum" }

            struct Play: Action {
                static let name = Drum.action("play")
                typealias Reply = Int
            }

            struct Beats: StreamingAction {
                static let name = Drum.action("beats")
                typealias Element = Int
            }

            @ModuleActor func use(_ exports: inout Exports, _ bus: Bus) async throws {
                STATEMENT
            }
            """
        func said(_ statement: String) throws -> String {
            let file = try folder.file("Drum.swift", text.replacing("STATEMENT", with: statement))
            return try SwiftCompiler(folder: folder.path).check([file], isStrict: false)
        }
        let found = try said(statement)
        #expect(found.contains("is unavailable: \(hint)"), "\(found)")
        #expect(try said("exports.url(\"drum\", \"/beats\", to: Beats.self)") == "")
    }
}
