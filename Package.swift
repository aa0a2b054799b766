// swift-tools-version: 6.2
import PackageDescription

/// Set by scripts/check: there a warning is an error.
let strict = Context.environment["STRATA_STRICT"] != nil

/// Whether strata-link is built, which connects several nodes. It alone needs libnats.
let hasLink = Context.environment["STRATA_LINK"] != nil

let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("ExistentialAny"),
    ] + (strict ? [.treatAllWarnings(as: .error)] : [])

let cSettings: [CSetting] =
    [.define("_GNU_SOURCE"), .enableWarning("all"), .enableWarning("extra")]
    + (strict ? [.treatAllWarnings(as: .error)] : [])

/// The program that carries the bytes between the brokers of two nodes, over NATS.
let linkTargets: [Target] = [
    .systemLibrary(
        name: "CNATS", path: "Sources/Link/CNATS", pkgConfig: "libnats", providers: [.apt(["libnats-dev"])]),
    .target(
        name: "StrataLink", dependencies: ["CNATS", "StrataCore", "StrataLoop", "StrataPipe"],
        path: "Sources/Link/Process", swiftSettings: settings),
    .executableTarget(
        name: "StrataLinkCommand", dependencies: ["StrataLink"], path: "Sources/strata-link", swiftSettings: settings),
    .testTarget(
        name: "LinkTests",
        dependencies: [
            "StrataCore", "StrataLoop", "StrataPipe", "StrataLink", "StrataLinkCommand", "StrataTesting", "TestSupport",
        ],
        swiftSettings: settings),
]

let package = Package(
    name: "strata",
    products: [
        .library(name: "Strata", targets: ["Strata"]),
        .library(name: "StrataTesting", targets: ["StrataTesting"]),
        .library(name: "StrataOperator", targets: ["StrataOperator"]),
        .library(name: "StrataPictures", targets: ["StrataPictures"]),
        .library(name: "StrataManifest", targets: ["StrataManifest"]),
        .library(name: "StrataBus", targets: ["StrataBus"]),
        .library(name: "StrataLauncher", targets: ["StrataLauncher"]),
        .library(name: "CStrata", targets: ["CStrata"]),
        .executable(name: "strata", targets: ["StrataCommand"]),
        .executable(name: "strata-broker", targets: ["StrataBrokerCommand"]),
    ] + (hasLink ? [.executable(name: "strata-link", targets: ["StrataLinkCommand"])] : []),
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CUV", path: "Sources/CUV", pkgConfig: "libuv",
            providers: [.apt(["libuv1-dev"])]),
        // The client in C, which has its own build and tests: here for modules in C that SwiftPM builds.
        .target(name: "CStrata", path: "clients/c", sources: ["strata.c"], publicHeadersPath: "include"),
        .target(
            name: "StrataCore", dependencies: ["CUV"], path: "Sources/Core", exclude: ["Loop"], swiftSettings: settings),
        .target(
            name: "StrataLoop", dependencies: ["CUV", "StrataCore"], path: "Sources/Core/Loop", swiftSettings: settings),
        .target(
            name: "StrataBus", dependencies: ["StrataCore", "StrataLoop"], path: "Sources/Bus",
            // So that a file knows of the loop's only what it imports.
            swiftSettings: settings + [.enableUpcomingFeature("MemberImportVisibility")]),
        .target(name: "StrataPipe", dependencies: ["StrataCore"], path: "Sources/Link/Pipe", swiftSettings: settings),
        .target(
            name: "StrataContracts", dependencies: ["StrataCore"], path: "Sources/Contracts", exclude: ["Comparing"],
            swiftSettings: settings),
        // Apart, so that modules don't carry it.
        .target(
            name: "StrataComparing", dependencies: ["StrataCore", "StrataContracts"],
            path: "Sources/Contracts/Comparing", swiftSettings: settings),
        .target(
            name: "StrataStubs", dependencies: ["StrataCore", "StrataContracts"], path: "Sources/Stubs",
            swiftSettings: settings),
        .target(
            name: "StrataSymbols", dependencies: ["StrataCore", "StrataContracts"], path: "Sources/Symbols",
            swiftSettings: settings),
        .target(
            name: "StrataDeriving", dependencies: ["StrataCore", "StrataContracts", "StrataJSON"],
            path: "Sources/Deriving", swiftSettings: settings),
        .target(name: "StrataJSON", dependencies: ["StrataCore"], path: "Sources/JSONCoding", swiftSettings: settings),
        .target(
            name: "StrataOperator", dependencies: ["StrataCore", "StrataLoop"], path: "Sources/Operator",
            swiftSettings: settings),
        .target(
            name: "Strata",
            dependencies: [
                "CUV", "StrataCore", "StrataLoop", "StrataJSON", "StrataContracts", "StrataDeriving",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            path: "Sources/ModuleProcess/Runtime", swiftSettings: settings),
        .target(
            name: "StrataManifest",
            dependencies: [
                "StrataCore", "StrataLoop", "StrataContracts", "StrataComparing",
                .product(name: "Yams", package: "Yams"),
            ],
            path: "Sources/ModuleProcess/Manifest", swiftSettings: settings),
        .target(
            name: "StrataLauncher",
            dependencies: ["StrataCore", "StrataLoop", "StrataContracts", "StrataManifest", "StrataOperator"],
            path: "Sources/ModuleProcess/Launcher", swiftSettings: settings),
        .target(
            name: "StrataTesting",
            dependencies: [
                "CUV", "StrataCore", "StrataLoop", "StrataBus", "StrataPipe", "Strata", "StrataManifest",
            ],
            path: "Sources/Testing", swiftSettings: settings),
        .target(
            name: "StrataPictures", dependencies: ["StrataCore", "StrataOperator"], path: "Sources/Pictures",
            swiftSettings: settings),
        .target(
            name: "StrataConformance", dependencies: ["CUV", "StrataCore"], path: "Sources/Conformance",
            swiftSettings: settings),
        .target(
            name: "StrataReplay", dependencies: ["StrataCore", "StrataConformance", "StrataOperator"],
            path: "Sources/Replay",
            swiftSettings: settings),
        .executableTarget(
            name: "StrataCommand",
            dependencies: [
                "StrataCore", "StrataLoop", "StrataContracts", "StrataComparing", "StrataStubs", "StrataSymbols",
                "StrataManifest", "StrataLauncher", "StrataOperator", "StrataPictures", "StrataConformance",
                "StrataReplay", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Sources/strata", swiftSettings: settings),
        .executableTarget(
            name: "StrataBrokerCommand", dependencies: ["StrataCore", "StrataBus"],
            path: "Sources/strata-broker", swiftSettings: settings),
        .executableTarget(
            name: "simulate", dependencies: ["StrataTesting"], path: "Sources/simulate", swiftSettings: settings),
        .executableTarget(
            name: "StrataFixture",
            dependencies: [
                "Strata", .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            path: "Tests/Fixture", swiftSettings: settings),
        .executableTarget(
            name: "ConformanceProbe", dependencies: ["Strata", "StrataLoop", "StrataOperator"], path: "Tests/Probe",
            swiftSettings: settings),
        .executableTarget(
            name: "GuideModule", dependencies: ["Strata"], path: "Tests/GuideModule", swiftSettings: settings),
        .executableTarget(
            name: "BuslessModule", dependencies: ["Strata"], path: "Tests/Busless", swiftSettings: settings),
        .executableTarget(
            name: "SimulatedModules", dependencies: ["Strata", "StrataTesting"], path: "Tests/Simulated",
            swiftSettings: settings),
        .executableTarget(name: "StrataConnector", path: "Tests/Connector", swiftSettings: settings),
        .executableTarget(
            name: "OtherBuild", dependencies: ["StrataCore", "StrataLoop", "StrataBrokerCommand"],
            path: "Tests/OtherBuild",
            swiftSettings: settings),
        .target(
            name: "TestSupport", dependencies: ["StrataCore", "StrataLoop", "StrataTesting"], path: "Tests/Support",
            swiftSettings: settings),
        .target(
            name: "ContractSamples",
            dependencies: ["StrataCore", "StrataContracts", "StrataComparing", "StrataTesting"],
            path: "Tests/ContractSamples", swiftSettings: settings),
        .target(
            name: "DerivingFixtures",
            dependencies: ["Strata", "StrataCore", "StrataContracts", "StrataJSON", "StrataDeriving", "StrataTesting"],
            path: "Tests/DerivingFixtures", swiftSettings: settings),
        .executableTarget(
            name: "contract-corpus", dependencies: ["StrataCore", "ContractSamples", "DerivingFixtures"],
            path: "Tests/ContractCorpus",
            exclude: ["oracle.py"], swiftSettings: settings),
        .target(
            name: "StrataFuzzing",
            dependencies: [
                "StrataCore", "StrataLoop", "StrataJSON", "StrataContracts", "StrataComparing", "StrataBus",
                "StrataManifest", "StrataTesting",
            ],
            path: "Fuzzing/Targets", swiftSettings: settings),
        // An app under faults: what plays its modules, what does it harm, and what judges the logs.
        .target(name: "FaultSystem", path: "Faults/System", cSettings: cSettings),
        .target(name: "FaultRecord", path: "Faults/Record", swiftSettings: settings),
        .target(name: "FaultPlan", dependencies: ["FaultRecord"], path: "Faults/Plan", swiftSettings: settings),
        .target(name: "FaultJudge", dependencies: ["FaultRecord"], path: "Faults/Judge", swiftSettings: settings),
        .executableTarget(
            name: "faults-module", dependencies: ["FaultRecord", "Strata"], path: "Faults/Module",
            swiftSettings: settings),
        .executableTarget(
            name: "faults-peer", dependencies: ["FaultRecord", "Strata", "StrataTesting"], path: "Faults/Peer",
            swiftSettings: settings),
        .executableTarget(
            name: "faults",
            dependencies: ["FaultSystem", "FaultRecord", "FaultPlan", "FaultJudge", "StrataCore", "StrataOperator"],
            path: "Faults/Driver", swiftSettings: settings),
        .testTarget(
            name: "JudgeTests", dependencies: ["FaultRecord", "FaultPlan", "FaultJudge"], path: "Faults/Tests",
            swiftSettings: settings),
        .testTarget(name: "FuzzingTests", dependencies: ["StrataFuzzing"], swiftSettings: settings),
        .testTarget(
            name: "CoreTests", dependencies: ["StrataCore", "StrataLoop", "StrataTesting", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "PipeTests", dependencies: ["StrataCore", "StrataPipe", "StrataTesting"], swiftSettings: settings),
        .testTarget(
            name: "ContractTests",
            dependencies: [
                "StrataCore", "StrataContracts", "StrataComparing", "ContractSamples", "StrataTesting", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "StubTests",
            dependencies: ["Strata", "StrataCore", "StrataContracts", "StrataDeriving", "StrataStubs"],
            exclude: ["Documents", "Generated/archive.py", "Generated/library.py", "Generated/library.ts"],
            swiftSettings: settings),
        .testTarget(
            name: "DerivingTests",
            dependencies: [
                "StrataCore", "StrataContracts", "StrataDeriving", "StrataJSON", "StrataSymbols", "DerivingFixtures",
                "StrataTesting", "TestSupport",
            ],
            exclude: ["Documents", "Settings", "Symbols"], swiftSettings: settings),
        .testTarget(
            name: "JSONCodingTests",
            dependencies: ["StrataCore", "StrataJSON", "StrataTesting", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "BusTests",
            dependencies: [
                "StrataCore", "StrataLoop", "StrataBus", "StrataTesting", "StrataBrokerCommand", "GuideModule",
                "BuslessModule",
                "StrataConnector", "OtherBuild", "simulate", "TestSupport",
            ],
            exclude: ["States"], swiftSettings: settings),
        .testTarget(
            name: "ModuleProcessTests",
            dependencies: [
                "StrataCore", "StrataLoop", "StrataJSON", "StrataContracts", "Strata", "StrataBus", "StrataManifest",
                "StrataLauncher", "StrataTesting", "SimulatedModules", "TestSupport",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "OperatorTests",
            dependencies: ["StrataCore", "StrataLoop", "StrataOperator", "StrataTesting", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "ConformanceTests", dependencies: ["StrataCore", "StrataConformance", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "ReplayTests", dependencies: ["StrataCore", "StrataReplay", "StrataTesting", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "PicturesTests", dependencies: ["StrataCore", "StrataOperator", "StrataPictures", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "SystemTests",
            dependencies: [
                "StrataCore", "StrataLoop", "StrataTesting", "StrataFixture", "StrataCommand", "StrataBrokerCommand",
                "StrataConnector", "StrataReplay", "ConformanceProbe", "TestSupport",
            ],
            swiftSettings: settings + (hasLink ? [.define("STRATA_LINK")] : [])),
    ] + (hasLink ? linkTargets : []),
    swiftLanguageModes: [.v6]
)
