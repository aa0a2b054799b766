import Foundation
import StrataTesting
import TestSupport
import Testing

/// Swift's compiler, with the modules that this package was built into.
struct SwiftCompiler {
    /// The folder where SwiftPM puts executables and their objects.
    private static let build = CommandRun.executable.deletingLastPathComponent().path
    /// The libraries that a module's program links, beside its own objects.
    private static let linked = [
        "Strata", "StrataCore", "StrataLoop", "StrataJSON", "StrataContracts", "StrataDeriving", "Logging",
        "CoreMetrics", "Instrumentation", "Tracing",
    ]

    /// The folder into which modules of samples are written, and where later samples find them.
    let folder: String

    /// Type-checks files without writing any.
    /// - Returns: the findings.
    func check(_ files: [String], module: String = "Sample", isStrict: Bool) throws -> String {
        try compile(["-typecheck", "-module-name", module] + (isStrict ? ["-warnings-as-errors"] : []) + files)
    }

    /// Checks a package's manifest.
    func checkPackage(_ file: String) throws -> String {
        let compiler = try #require(Self.location, "there is no swiftc in PATH")
        let library =
            compiler.deletingLastPathComponent().deletingLastPathComponent().path + "/lib/swift/pm/ManifestAPI"
        return try run(
            ["-typecheck", "-package-description-version", "6.2.0", "-I", library, "-warnings-as-errors", file])
    }

    /// Compiles a library, so that later samples can import it.
    func makeModule(_ module: String, _ files: [String]) throws -> String {
        try compile(
            [
                "-emit-module", "-emit-module-path", "\(folder)/\(module).swiftmodule", "-emit-object", "-wmo",
                "-o", "\(folder)/\(module).o", "-module-name", module,
            ] + files)
    }

    /// Builds a module's program, with the libraries of samples that it imports.
    func makeProgram(_ path: String, module: String, _ files: [String], libraries: [String]) throws -> String {
        let objects = try Self.linked.flatMap { try Self.objects(of: $0) }
        return try compile(
            ["-o", path, "-module-name", module, "-luv"] + files + libraries.map { "\(folder)/\($0).o" } + objects)
    }

    private static func objects(of target: String) throws -> [String] {
        let folder = "\(build)/\(target).build"
        return try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".o") }
            .map { "\(folder)/\($0)" }
    }

    private static let location: URL? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let paths = folders.map { "\($0)/swiftc" }
        return paths.first(where: FileManager.default.isExecutableFile).map { URL(fileURLWithPath: $0) }
    }()

    /// Runs the compiler with the options that all modules of this package need.
    private func compile(_ arguments: [String]) throws -> String {
        // Of the C libraries that these modules import.
        let maps = [
            Repository.path("Sources/CUV/module.modulemap"),
            "\(Self.build)/../../checkouts/Yams/Sources/CYaml/include/module.modulemap",
        ]
        return try run(
            ["-parse-as-library", "-I", Self.build + "/Modules", "-I", folder]
                + maps.flatMap { ["-Xcc", "-fmodule-map-file=" + $0] } + arguments)
    }

    /// Runs the compiler.
    /// - Returns: its output; empty if it succeeded.
    private func run(_ arguments: [String]) throws -> String {
        let compiler = try #require(Self.location, "there is no swiftc in PATH")
        let program = try ChildProgram(compiler.path, ["-swift-version", "6"] + arguments, label: "swiftc")
        let end = try program.wait()
        return end == .exit(0) ? "" : program.outputText + "\(end)"
    }
}
