import Glibc
import StrataTesting
import Testing

/// What is generated in the app: the contracts under version control, and the client that Suggest uses.
@Suite(.timeLimit(.minutes(10)))
struct ContractFolderTests {
    @Test func generatedFilesAreUpToDate() throws {
        let root = #filePath.split(separator: "/").dropLast(5).map { "/" + $0 }.joined()
        let built = try BuiltExecutable.path("Storage").split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
        let program = try ChildProgram(
            "/bin/bash", [root + "/scripts/catalog-contracts", "--check"], environment: ["SWIFTPM_BUILD_DIR": built])
        #expect(try program.wait() == .exit(0), "\(program.outputText)")
    }
}
