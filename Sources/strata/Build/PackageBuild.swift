import Glibc
import StrataLauncher
import StrataManifest

/// Builds the package of an app's modules with `swift build`, before the app starts.
struct PackageBuild {
    /// SwiftPM's name for a set of compiler options.
    enum Configuration: String, CaseIterable { case debug, release }

    /// The folder of the package.
    let folder: String
    let configuration: Configuration

    /// - Parameters:
    ///   - manifest: its package is the nearest one in its folder or in a folder around it.
    ///   - configuration: nil chooses the one of the modules' programs: release if one of them is
    ///     in `.build/release`, else debug.
    /// - Returns: nil if there is no package.
    init?(of manifest: Manifest, _ configuration: Configuration?) {
        var folder = manifest.folder
        while access("\(folder)/Package.swift", F_OK) != 0 {
            guard let slash = folder.lastIndex(of: "/"), folder != "/" else { return nil }
            folder = slash == folder.startIndex ? "/" : String(folder[..<slash])
        }
        self.folder = folder
        let programs = manifest.processes.compactMap(\.executable)
        self.configuration =
            configuration ?? (programs.contains { $0.contains("/.build/release/") } ? .release : .debug)
    }

    /// The command that builds it; the first word is a name for PATH.
    var words: [String] {
        ["swift", "build", "--package-path", folder, "--configuration", configuration.rawValue]
    }

    /// Runs the build, and returns when it is done. The output of `swift build` goes to stderr,
    /// because stdout belongs to the app.
    /// - Throws: `answer` if the build fails. The compiler has already said why.
    func run() throws(Failure) {
        StandardError.write("building \(folder)")
        let end = try ChildCommand.run(words)
        guard end.isGood else {
            throw Failure(.answer, "\(words.joined(separator: " ")) ended with \(end.text): the app isn't started")
        }
    }
}
