import Foundation
import StrataTesting
import TestSupport
import Testing

/// `strata up --build`, with a `swift` that only prints how it was called.
@Suite(.timeLimit(.hang))
struct CommandBuildTests {
    private let folder = try! StrataTesting.TemporaryFolder()  // because a test without one has failed anyway

    /// Makes a manifest in a package's folder, and a `swift` that fails.
    private func make(run: String = ".build/debug/A", manifest: String = "p/strata.yaml") throws {
        try folder.write("p/Package.swift", "")
        try folder.write(manifest, "app: built\nmodules:\n  A: {run: [\(run)]}\n")
        try folder.write(
            "bin/swift", "#!/bin/sh\necho \"asked: $*\"\necho 'main.swift:1:1: error: no such thing'\nexit 1\n",
            mode: 0o755)
    }

    /// Runs `strata up`, which should fail. An app that starts anyway is killed when its time is
    /// over.
    private func up(_ words: String..., path: String? = nil) throws -> (end: ChildProgram.End, said: String) {
        let program = try ChildProgram(
            try BuiltExecutable.path("strata"), ["up", "--socket", "\(folder.path)/bus.sock"] + words,
            environment: ["PATH": path ?? "\(folder.path)/bin:/usr/bin:/bin"])
        return (try program.wait(), program.outputText)
    }

    @Test func aFailedBuildStartsNothing() throws {
        try make()
        let run = try up("\(folder.path)/p/strata.yaml", "--build")
        #expect(run.end == .exit(1))
        #expect(run.said.contains("asked: build --package-path \(folder.path)/p --configuration debug\n"))
        #expect(run.said.contains("main.swift:1:1: error: no such thing\n"))
        #expect(run.said.hasSuffix("ended with exit code 1: the app isn't started\n"), "\(run.said)")
        #expect(!folder.contents.contains("bus.sock"))
    }

    @Test func theConfigurationIsTheProgramsOrAsSaid() throws {
        try make(run: ".build/release/A")
        let release = try up("\(folder.path)/p/strata.yaml", "--build")
        #expect(release.said.contains("--configuration release\n"), "\(release.said)")
        let debug = try up("\(folder.path)/p/strata.yaml", "--build", "-c", "debug")
        #expect(debug.said.contains("--configuration debug\n"), "\(debug.said)")
        let alone = try up("\(folder.path)/p/strata.yaml", "-c", "debug")
        #expect(alone.end == .exit(2) && alone.said.contains("--build"), "\(alone.said)")
    }

    @Test func thePackageMayBeAroundTheManifest() throws {
        try make(manifest: "p/apps/one/strata.yaml")
        let run = try up("\(folder.path)/p/apps/one/strata.yaml", "--build")
        #expect(run.said.contains("--package-path \(folder.path)/p "), "\(run.said)")
    }

    @Test func withoutAPackageOrSwiftItSaysSo() throws {
        try make(manifest: "q/strata.yaml")
        let nowhere = try up("\(folder.path)/q/strata.yaml", "--build")
        #expect(nowhere.end == .exit(2) && nowhere.said.contains("no Package.swift"), "\(nowhere.said)")
        try make()
        let run = try up("\(folder.path)/p/strata.yaml", "--build", path: "\(folder.path)/q")
        #expect(run.end == .exit(2) && run.said.contains("swift can't be started"), "\(run.said)")
    }

    @Test func aBadManifestIsSaidBeforeAnythingIsBuilt() throws {
        try make()
        try folder.write("p/strata.yaml", "ap: built\n")
        let run = try up("\(folder.path)/p/strata.yaml", "--build")
        #expect(run.end == .exit(2) && !run.said.contains("asked"), "\(run.said)")
    }
}
