import StrataManifest

/// The files of a package that `strata new` makes. The text of its Swift sources is in
/// `PackageTemplate+Sources.swift`.
struct PackageTemplate {
    let names: PackageNames
    let dependency: StrataDependency

    init(_ names: PackageNames, _ dependency: StrataDependency) {
        self.names = names
        self.dependency = dependency
    }

    var files: [NewFile] {
        let (provider, caller) = (names.provider, names.caller)
        return [
            NewFile(path: "Package.swift", text: package),
            NewFile(path: "strata.yaml", text: manifest),
            Self.schema,
            NewFile(path: "README.md", text: readme),
            NewFile(path: "Sources/\(provider)Interface/\(provider).swift", text: contract),
            NewFile(path: "Sources/\(provider)/\(provider)Module.swift", text: providerModule),
            NewFile(path: "Sources/\(caller)/\(caller)Module.swift", text: callerModule),
            NewFile(path: "Tests/\(provider)Tests/\(provider)Tests.swift", text: tests),
            NewFile(path: ".gitignore", text: ".build/\n"),
            NewFile(path: ".swift-format", text: format),
        ]
    }

    /// The provider's name in lower case: the host of its URLs and prefix of its notifications.
    var prefix: String { names.provider.lowercased() }

    /// Returns import declarations in the order that swift-format wants.
    func imports(_ modules: String...) -> String {
        modules.sorted().map { "import \($0)" }.joined(separator: "\n")
    }

    private var package: String {
        """
        // swift-tools-version: 6.2
        import PackageDescription

        let strata = Target.Dependency.product(name: "Strata", package: "\(dependency.identity)")

        let package = Package(
            name: "\(names.app)",
            dependencies: [
                \(dependency.declaration)
            ],
            targets: [
                // The contract of \(names.provider), which it and its callers import.
                .target(name: "\(names.provider)Interface", dependencies: [strata]),

                // The modules, one program each.
                .executableTarget(name: "\(names.provider)", dependencies: ["\(names.provider)Interface", strata]),
                .executableTarget(name: "\(names.caller)", dependencies: ["\(names.provider)Interface", strata]),

                // Depends on the modules, so they are built before their tests run.
                .testTarget(
                    name: "\(names.provider)Tests",
                    dependencies: [
                        "\(names.provider)", "\(names.caller)",
                        .product(name: "StrataTesting", package: "\(dependency.identity)"),
                    ]),
            ],
            swiftLanguageModes: [.v6]
        )

        """
    }

    private var manifest: String {
        Self.manifest(names, provider: ".build/debug/\(names.provider)", caller: ".build/debug/\(names.caller)")
    }

    /// Returns the manifest of an app with two modules.
    /// - Parameters:
    ///   - provider: The program of the first module.
    ///   - caller: That of the second one.
    static func manifest(_ names: PackageNames, provider: String, caller: String) -> String {
        let prefix = names.provider.lowercased()
        return """
            \(ManifestSchema.modeline)
            # `strata check` checks this file, `strata up` runs it.
            app: \(names.app)
            schemes: [\(names.app)]
            calls: layered   # a module calls interfaces of its own and earlier levels

            modules:
              \(names.provider):
                level: basic
                run: [\(provider)]
                provides: [\(names.provider)]
                broadcasts: [\(prefix).greeted]

              \(names.caller):
                level: topout
                run: [\(caller)]
                provides: [\(names.caller)]
                requires: [\(names.provider)]
                observes: [\(prefix).greeted]

            """
    }

    /// The schema that the manifest's first line names, for editors.
    static let schema = NewFile(path: ManifestSchema.file, text: ManifestSchema().text)

    private var readme: String {
        """
        # \(names.app)

        Two modules, each a process, on one bus: \(names.provider) greets and broadcasts it, \(names.caller) asks
        for greetings and remembers them.

            strata up --build     builds, then runs the app until ctrl-C
            strata dev            does so, and restarts what you change

        In another terminal:

            strata ps
            strata call \(names.caller)/visit '{"who": "Ada"}'
            strata open \(names.app)://\(prefix)/greet/Bo
            strata call \(names.caller)/seen

        | where | what |
        |---|---|
        | strata.yaml | the modules, their levels, and what each may do |
        | \(ManifestSchema.file) | what strata.yaml may say, for editors |
        | Sources/\(names.provider)Interface | the contract, which both modules import |
        | Sources/\(names.provider), Sources/\(names.caller) | the modules |
        | Tests | tests of each module as a process on its own bus: `swift test` |

        `strata run \(names.caller) -- lldb -- {}` runs a module in a debugger, in its place in the app.

        """
    }

    private var format: String {
        """
        {
          "version": 1,
          "lineLength": 120,
          "indentation": {
            "spaces": 4
          },
          "lineBreakBeforeEachArgument": false
        }

        """
    }
}

/// Writes a text as a string literal of Swift, with its quotes and escapes.
enum SwiftLiteral {
    static func string(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": literal += "\\\(scalar)"
            case let scalar where scalar.value < 0x20: literal += "\\u{\(String(scalar.value, radix: 16))}"
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }
}
