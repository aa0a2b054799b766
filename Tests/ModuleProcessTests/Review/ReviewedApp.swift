import StrataCore
import StrataManifest

/// A test's manifest, with the descriptions that its modules would give.
struct ReviewedApp {
    let manifest: Manifest
    let descriptions: [String: ModuleDescription]

    /// - Parameters:
    ///   - text: the lines after the first line, `app: test`.
    ///   - hellos: the members of each hello besides the protocol, by the row's name.
    init(_ text: String, hellos: [String: String] = [:]) throws {
        manifest = try TemporaryManifest.load(Array("app: test\n\(text)\n".utf8))
        descriptions = try hellos.mapValues { hello in
            try ModuleDescription(JSON(parsing: Array(#"{"protocol":1\#(hello.isEmpty ? "" : ",")\#(hello)}"#.utf8)))
        }
    }

    /// Each finding as `LINE:COLUMN CLASS KEY: MESSAGE`.
    var findings: [String] {
        AppReview(manifest, descriptions).findings.map { finding in
            let problem = finding.problem
            let place = [problem.line, problem.column].compactMap { $0.map(String.init) }.joined(separator: ":")
            return "\(place) \(finding.severity.rawValue) \(problem.key): \(problem.message)"
        }
    }

    var judge: Judge { Judge(manifest, descriptions) }
}
