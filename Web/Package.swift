// swift-tools-version: 6.2
import PackageDescription

/// Set by the repository's scripts/check: there a warning is an error.
let strict = Context.environment["STRATA_STRICT"] != nil

let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("ExistentialAny"),
    ] + (strict ? [.treatAllWarnings(as: .error)] : [])

let strata: [Target.Dependency] = ["StrataOperator", "StrataPictures", "StrataManifest"].map {
    .product(name: $0, package: "strata")
}

// A package of its own, so that modules and the broker never resolve what a web server needs.
let package = Package(
    name: "strata-web",
    products: [.executable(name: "strata-web", targets: ["StrataWebCommand"])],
    dependencies: [
        .package(name: "strata", path: ".."),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    ],
    targets: [
        .target(
            name: "StrataWeb",
            dependencies: strata + [.product(name: "Hummingbird", package: "hummingbird")],
            resources: [.embedInCode("Page")], swiftSettings: settings),
        .executableTarget(
            name: "StrataWebCommand",
            dependencies: ["StrataWeb", .product(name: "ArgumentParser", package: "swift-argument-parser")],
            path: "Sources/strata-web", swiftSettings: settings),
        .testTarget(
            name: "StrataWebTests", dependencies: ["StrataWeb"], path: "Tests/StrataWebTests", swiftSettings: settings),
    ]
)
