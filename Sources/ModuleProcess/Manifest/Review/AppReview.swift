import StrataCore

/// All that can be known of an app before anything runs, from its manifest and
/// from what its modules' programs say of themselves.
///
/// What only a module can know (what it observes, which events it is called
/// for) is judged where the modules that matter have described themselves; rows
/// are taken at their word otherwise.
public struct AppReview {
    /// In the order of the manifest's lines.
    public let findings: [Finding]

    /// - Parameters:
    ///   - manifest: one that was read without errors.
    ///   - descriptions: by the row's name; some may lack one.
    public init(_ manifest: Manifest, _ descriptions: [String: ModuleDescription] = [:]) {
        let completed = manifest.completed(by: descriptions)
        let rows = ManifestReview(completed)
        let modules = DescriptionReview(manifest, descriptions)
        var findings = (rows.errors + rows.unmet + modules.errors).map { Finding(.error, $0) }
        findings += (rows.advice + modules.advice).map { Finding(.advice, $0) }
        findings += ActionReview(completed, descriptions).findings
        findings += NotificationReview(completed, descriptions).findings
        findings += EventReview(completed, descriptions).findings
        self.findings = findings.inOrder
    }
}
