import StrataCore

/// What `strata check --fix` writes into the files of a manifest: what the modules' descriptions say
/// and their rows lack. It adds, and removes nothing.
public struct ManifestFix {
    /// A file that changes.
    public struct File {
        public let path: String
        public let before: [UInt8]
        public let after: [UInt8]
    }

    /// The files that change, in the manifest's order; empty if nothing is missing.
    public let files: [File]

    /// Finds what is missing, and checks that the manifest is good with it. Blocks on the files.
    /// - Parameters:
    ///   - descriptions: The modules' descriptions by row name; some may be missing.
    ///   - environment: As for `Manifest.load`.
    /// - Throws: Why nothing can be written: a row that can't be edited, or the errors that the result
    ///   would have.
    public init(
        _ manifest: Manifest, _ descriptions: [String: ModuleDescription], environment: [String: String]
    ) throws(ManifestErrors) {
        var errors: [ManifestError] = []
        var texts: [Int: (bytes: [UInt8], tree: YAMLSpan, editor: YAMLEditor)] = [:]
        for (row, facts) in DescriptionReview(manifest, descriptions).missing {
            let number = manifest.places.find(["modules", .key(row.name)]).place?.file ?? 0
            do {
                if texts[number] == nil {
                    let bytes = try ManifestFile.bytes(manifest.places.path(number, of: manifest), number: number)
                    guard let tree = YAMLSpan.tree(bytes) else { continue }
                    texts[number] = (bytes, tree, YAMLEditor(bytes))
                }
                guard let tree = texts[number]?.tree, let rows = number == 0 ? tree["modules"]?.value : tree,
                    let found = rows[row.name]
                else {
                    throw RowEditor.Obstacle(steps: [], message: "the row isn't written here: add to it by hand")
                }
                try RowEditor(row: found, rows: rows).add(facts, to: &texts[number]!.editor)  // because it was set
            } catch let error as RowEditor.Obstacle {
                errors.append(manifest.problem(["modules", .key(row.name)] + error.steps, error.message))
            } catch let error as ManifestFile.Failure {
                errors.append(manifest.problem(["modules", .key(row.name)], "its file \(error.message)"))
            } catch {
                preconditionFailure("only these two are thrown, not \(error)")
            }
        }
        guard errors.isEmpty else { throw ManifestErrors(errors) }
        let files = texts.sorted { $0.key < $1.key }.map { number, text in
            File(path: manifest.places.path(number, of: manifest), before: text.bytes, after: text.editor.edited)
        }
        try self.init(files, of: manifest, environment)
    }

    /// Checks the result.
    init(_ files: [File], of manifest: Manifest, _ environment: [String: String]) throws(ManifestErrors) {
        self.files = files
        guard !files.isEmpty else { return }
        let unwritten = Dictionary(files.map { ($0.path, $0.after) }, uniquingKeysWith: { first, _ in first })
        let result = try Manifest.load(path: manifest.path, environment: environment, unwritten: unwritten)
        let refused = ManifestReview(result).errors
        guard refused.isEmpty else { throw ManifestErrors(refused) }
    }
}

extension ManifestPlaces {
    /// Returns the path of one of a manifest's files.
    fileprivate func path(_ number: Int, of manifest: Manifest) -> String {
        number == 0 ? manifest.path : files[number]
    }
}
