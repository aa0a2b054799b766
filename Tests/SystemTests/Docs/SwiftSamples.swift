import StrataTesting

/// The Swift samples of a page, put together into files that a compiler accepts.
///
/// A sample without a marking is a whole file. So is a sample that is marked `file PATH`; the
/// files of one folder are one target. `Sources/NAME/…` is module `NAME`, which later samples of
/// the page may import. `module NAME` is a library of one file. All other markings stand for
/// parts of a file:
///
/// - `declarations`: types, which all parts of the page see;
/// - `members`: members of a class that has a `bus`;
/// - `statements`: statements of an async method of such a class, with `exports`;
/// - `package`: arguments of a manifest's `Package`.
struct SwiftSamples {
    /// Files that are compiled together.
    struct Target {
        enum Kind { case file, library, package }

        let name: String
        let kind: Kind
        private(set) var texts: [String] = []
        /// Whether it is a program.
        private(set) var hasMain = false

        mutating func take(_ sample: PageSample) {
            texts.append(SwiftSamples.located(sample))
            if sample.lines.contains("@main") { hasMain = true }
        }
    }

    private(set) var targets: [Target] = []
    /// The parts as one file; empty if there are none.
    private(set) var parts = ""

    init(_ page: Page) throws {
        for sample in page.samples where sample.language == "swift" && !sample.isOnlyShown { try add(sample) }
        let imports = targets.filter { $0.kind == .library && !$0.hasMain }.map { "import \($0.name)\n" }
        if !parts.isEmpty { parts = "import Strata\n" + imports.joined() + parts }
    }

    private mutating func add(_ sample: PageSample) throws {
        if let name = sample.marked("module") {
            add(sample, to: name, .library)
        } else if let path = sample.marked("file") {
            addFile(sample, path)
        } else if sample.lines.contains("import PackageDescription") {
            add(sample, to: "Package\(sample.line)", .package)
        } else {
            switch sample.marking {
            case "declarations": parts += Self.located(sample) + sample.given.joined(separator: "\n")
            case "members":
                parts += Self.holder(sample, sample.given.joined(separator: "\n") + "\n" + Self.located(sample))
            case "statements":
                let given = sample.given.joined(separator: "\n")
                let body = "func sample(_ exports: inout Exports) async throws {\n\(Self.located(sample))}\n"
                parts += Self.holder(sample, given + "\n" + body)
            case "package":
                let text = """
                    import PackageDescription
                    #sourceLocation(file: "\(sample.page)", line: \(sample.line - 1))
                    let package = Package(name: "sample",
                    \(sample.text))

                    """
                targets.append(Target(name: "Package\(sample.line)", kind: .package, texts: [text]))
            case "" where sample.lines.contains { $0.hasPrefix("import ") }:
                add(sample, to: "Sample\(sample.line)", .file)
            default:
                throw TestFailure(
                    """
                    \(sample.page):\(sample.line): this isn't a whole file; say before it what it is, as in \
                    <!-- sample: statements -->, or: file PATH, module NAME, declarations, members, package, only shown
                    """, file: #fileID, line: #line)
            }
        }
    }

    private mutating func addFile(_ sample: PageSample, _ path: String) {
        let folders = path.split(separator: "/")
        if path == "Package.swift" {
            add(sample, to: "Package\(sample.line)", .package)
        } else if folders.count > 2, folders[0] == "Sources" {
            add(sample, to: String(folders[1]), .library)
        } else {
            add(sample, to: "Sample\(sample.line)", .file)
        }
    }

    private mutating func add(_ sample: PageSample, to name: String, _ kind: Target.Kind) {
        if !targets.contains(where: { $0.name == name }) { targets.append(Target(name: name, kind: kind)) }
        for index in targets.indices where targets[index].name == name { targets[index].take(sample) }
    }

    /// Adds the sample's place in the page, for the compiler's messages.
    static func located(_ sample: PageSample) -> String {
        "\n#sourceLocation(file: \"\(sample.page)\", line: \(sample.line))\n\(sample.text)#sourceLocation()\n"
    }

    private static func holder(_ sample: PageSample, _ members: String) -> String {
        """

        @ModuleActor
        final class Sample\(sample.line) {
        let bus: Bus
        init(bus: Bus) { self.bus = bus }
        \(members)
        }

        """
    }
}
