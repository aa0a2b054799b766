import Foundation
import StrataTesting
import TestSupport

/// A folder with the content of a page's samples: the files that it shows, its programs, and the
/// modules that they import.
final class SampleFolder {
    private let temporary: TemporaryFolder
    private let page: Page
    private let samples: SwiftSamples
    private let compiler: SwiftCompiler

    /// The folder where a reader of the page would be. Its path has a space.
    var path: String { temporary.path + "/a folder" }

    init(_ page: Page) throws {
        self.page = page
        samples = try SwiftSamples(page)
        temporary = try TemporaryFolder()
        compiler = SwiftCompiler(folder: temporary.path + "/modules")
        for folder in ["modules", "a folder", "run"] {
            try FileManager.default.createDirectory(
                atPath: "\(temporary.path)/\(folder)", withIntermediateDirectories: true)
        }
    }

    /// Checks the Swift code in it.
    /// - Returns: the compiler's output for each target that has any.
    func check() throws -> [String] {
        var findings: [String] = []
        for target in samples.targets {
            let files = try write(target)
            switch target.kind {
            case .package: findings.append(try compiler.checkPackage(files[0]))
            case .file, .library:
                findings.append(try compiler.check(files, module: target.name, isStrict: true))
                if target.kind == .library, !target.hasMain {
                    findings.append(try compiler.makeModule(target.name, files))
                }
            }
        }
        if !samples.parts.isEmpty {
            let file = try temporary.file("Parts.swift", samples.parts)
            findings.append(try compiler.check([file], isStrict: false))
        }
        return findings.filter { !$0.isEmpty }
    }

    /// Writes the files that the page shows, and builds its programs in `.build/debug`, as `swift
    /// build` would.
    /// - Returns: the compiler's output.
    func build() throws -> [String] {
        for sample in page.samples {
            guard let name = sample.marked("file") else { continue }
            try write(sample.text, to: name)
        }
        try FileManager.default.createDirectory(atPath: path + "/.build/debug", withIntermediateDirectories: true)
        var findings: [String] = []
        var libraries: [String] = []
        for target in samples.targets where target.kind == .library {
            let files = try write(target)
            if target.hasMain {
                findings.append(
                    try compiler.makeProgram(
                        "\(path)/.build/debug/\(target.name)", module: target.name, files, libraries: libraries))
            } else {
                findings.append(try compiler.makeModule(target.name, files))
                libraries.append(target.name)
            }
        }
        return findings.filter { !$0.isEmpty }
    }

    /// Types the page's sessions, with the built `strata`.
    /// - Returns: the number of commands.
    func replay() throws -> Int {
        let folder = CommandRun.executable.deletingLastPathComponent().path
        let runtime = temporary.path + "/run"
        let app =
            page.samples.compactMap { $0.lines.first { $0.hasPrefix("app: ") } }.first?.split(separator: " ")[1] ?? ""
        return try Transcript(
            page, in: path,
            environment: [
                "PATH": "\(folder):/usr/bin:/bin", "XDG_RUNTIME_DIR": runtime,
                // Other tests have buses in the folders that are searched.
                "STRATA_SOCKET": "\(runtime)/strata/\(app).sock", "MEMORY_PRESSURE_WATCH": "/dev/null",
                // Modules that a page doesn't show are in Python, which needs no compiler.
                "PYTHONPATH": Repository.path("clients/python"), "PYTHONDONTWRITEBYTECODE": "1",
            ]
        ).replay()
    }

    private func write(_ target: SwiftSamples.Target) throws -> [String] {
        try target.texts.enumerated().map { number, text in
            try temporary.file("\(target.name)-\(number).swift", text)
        }
    }

    private func write(_ text: String, to name: String) throws {
        let file = "\(path)/\(name)"
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try WrittenProgram.write(text, to: file, mode: 0o644)
    }
}
