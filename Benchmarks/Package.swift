// swift-tools-version: 6.2
import PackageDescription

/// Set by the repository's scripts/check: there a warning is an error.
let strict = Context.environment["STRATA_STRICT"] != nil

/// Whether strata-link is built. What it is compared with needs libnats, too.
let hasLink = Context.environment["STRATA_LINK"] != nil

let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("ExistentialAny"),
    ] + (strict ? [.treatAllWarnings(as: .error)] : [])

let cSettings: [CSetting] =
    [.define("_GNU_SOURCE"), .enableWarning("all"), .enableWarning("extra")]
    + (strict ? [.treatAllWarnings(as: .error)] : [])

let package = Package(
    name: "benchmarks",
    dependencies: [
        .package(name: "strata", path: ".."),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    ],
    targets: [
        // What forwards frames and does nothing else: the measure of the others.
        .executableTarget(
            name: "bench-floor", path: "Sources/Floor", cSettings: cSettings, linkerSettings: [.linkedLibrary("uv")]),
        // The same clients for all buses.
        .executableTarget(name: "bench-client", path: "Sources/RawClient", cSettings: cSettings),
        // The project's runtime at both ends.
        .executableTarget(
            name: "bench-module",
            dependencies: [
                .product(name: "Strata", package: "strata"), .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/SwiftClient", swiftSettings: settings),
        // Starts processes on a CPU of one's choice, and lets none outlive the run.
        .target(name: "Launch", path: "Sources/Launch", cSettings: cSettings),
        // Runs all of it, and prints the tables.
        .executableTarget(name: "bench", dependencies: ["Launch"], path: "Sources/Bench", swiftSettings: settings),
    ]
        + (hasLink
            ? [
                .executableTarget(
                    name: "bench-libnats", path: "Sources/LibNATS", cSettings: cSettings,
                    linkerSettings: [.linkedLibrary("nats")])
            ] : []),
    swiftLanguageModes: [.v6]
)
