// swift-tools-version: 6.2
import PackageDescription

/// Set by the repository's scripts/check: there a warning is an error.
let strict = Context.environment["STRATA_STRICT"] != nil

let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("ExistentialAny"),
    ] + (strict ? [.treatAllWarnings(as: .error)] : [])

let cSettings: [CSetting] =
    [.define("_GNU_SOURCE"), .enableWarning("all"), .enableWarning("extra")]
    + (strict ? [.treatAllWarnings(as: .error)] : [])

let package = Package(
    name: "faults",
    dependencies: [.package(name: "strata", path: "..")],
    targets: [
        // What Swift can't call: processes that end with the run, sockets of others, mounts.
        .target(name: "FaultSystem", path: "Sources/System", cSettings: cSettings),
        // The app's roles, and what its processes write down.
        .target(name: "FaultRecord", path: "Sources/Record", swiftSettings: settings),
        // Which harm is done when.
        .target(name: "FaultPlan", dependencies: ["FaultRecord"], path: "Sources/Plan", swiftSettings: settings),
        // Says what is wrong in the logs.
        .target(name: "FaultJudge", dependencies: ["FaultRecord"], path: "Sources/Judge", swiftSettings: settings),
        // Plays the roles that are modules over the runtime.
        .executableTarget(
            name: "faults-module", dependencies: ["FaultRecord", .product(name: "Strata", package: "strata")],
            path: "Sources/Module", swiftSettings: settings),
        // Plays those that speak the protocol by themselves.
        .executableTarget(
            name: "faults-peer",
            dependencies: [
                "FaultRecord", .product(name: "Strata", package: "strata"),
                .product(name: "StrataTesting", package: "strata"),
            ],
            path: "Sources/Peer", swiftSettings: settings),
        // Starts the app, does harm to it, and has it judged.
        .executableTarget(
            name: "faults",
            dependencies: [
                "FaultSystem", "FaultRecord", "FaultPlan", "FaultJudge", .product(name: "Strata", package: "strata"),
                .product(name: "StrataTesting", package: "strata"),
            ],
            path: "Sources/Driver", swiftSettings: settings),
        .testTarget(
            name: "JudgeTests", dependencies: ["FaultRecord", "FaultPlan", "FaultJudge"], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
