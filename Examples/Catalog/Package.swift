// swift-tools-version: 6.2
import PackageDescription

/// Set by the repository's scripts/check: there a warning is an error.
let strict = Context.environment["STRATA_STRICT"] != nil

let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("ExistentialAny"),
    ] + (strict ? [.treatAllWarnings(as: .error)] : [])

let strata = Target.Dependency.product(name: "Strata", package: "strata")

/// What a module offers, for itself and for those who call it.
func contract(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: "\(name)Interface", dependencies: [strata] + dependencies,
        path: "Sources/Contracts/\(name)", swiftSettings: settings)
}

/// A module: a program of its own.
func module(_ name: String, _ dependencies: [Target.Dependency], links: [String] = []) -> Target {
    .executableTarget(
        name: name, dependencies: [strata] + dependencies,
        path: "Sources/Modules/\(name)", swiftSettings: settings, linkerSettings: links.map { .linkedLibrary($0) })
}

let package = Package(
    name: "catalog",
    dependencies: [
        .package(name: "strata", path: "../.."),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    ],
    targets: [
        contract("Storage"),
        contract("Log"),
        contract("Catalog", ["StorageInterface"]),
        contract("Notes", ["StorageInterface"]),
        contract("Export", ["StorageInterface"]),
        contract("Session"),
        contract("Finder", ["StorageInterface"]),

        module("Storage", ["StorageInterface", "PackageDatabase"]),
        module("Log", ["LogInterface"]),
        module("Catalog", ["CatalogInterface", "StorageInterface", "LogInterface", "DpkgStatus"]),
        module(
            "Notes",
            [
                "NotesInterface", "StorageInterface", "LogInterface",
                .product(name: "CoreMetrics", package: "swift-metrics"),
            ]),
        module("Export", ["ExportInterface", "StorageInterface"]),
        // crypt(3), which hashes passwords, is a library beside libc.
        module("Session", ["SessionInterface", "LogInterface"], links: ["crypt"]),
        module("Finder", ["FinderInterface", "CatalogInterface", "StorageInterface"]),
        .executableTarget(
            name: "Disk", dependencies: [.product(name: "CStrata", package: "strata")], path: "Sources/Modules/Disk"),

        // The only target that links SQLite, GRDB and, through it, Foundation.
        .target(
            name: "PackageDatabase",
            dependencies: ["StorageInterface", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: settings),
        .target(name: "DpkgStatus", dependencies: ["StorageInterface"], swiftSettings: settings),

        .testTarget(name: "DpkgStatusTests", dependencies: ["DpkgStatus"], swiftSettings: settings),
        .testTarget(name: "SessionTests", dependencies: ["Session"], swiftSettings: settings),
        // The whole app, with the real launcher and broker: so all of it is built.
        .testTarget(
            name: "AppTests",
            dependencies: [
                "Storage", "Log", "Session", "Catalog", "Notes", "Finder", "Export", "Disk", strata,
                .product(name: "StrataTesting", package: "strata"), .product(name: "strata", package: "strata"),
                .product(name: "strata-broker", package: "strata"),
            ], swiftSettings: settings),
        .testTarget(name: "PackageDatabaseTests", dependencies: ["PackageDatabase"], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
