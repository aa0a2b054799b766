import Glibc
import StrataCore
import StrataLauncher

/// The strata package that a new package depends on.
struct StrataDependency {
    /// A folder's absolute path, or a URL.
    let place: String
    private let isFolder: Bool
    /// Whether it is the package that this program was built from, because none was named.
    private let isOwn: Bool

    /// A path that only this package has.
    private static let mark = "Sources/ModuleProcess/Runtime"

    /// - Parameter given: a folder or a URL; nil looks around this program.
    /// - Throws: `usage` for a folder without this package, or if none is found.
    init(_ given: String?) throws(Failure) {
        guard let given else {
            guard let own = Self.own else {
                throw Failure(
                    .usage,
                    "no package of strata is found above \(Programs.folder): give its folder or URL with --strata")
            }
            (place, isFolder, isOwn) = (own, true, true)
            return
        }
        if given.contains("://") || given.hasPrefix("git@") {
            (place, isFolder, isOwn) = (given, false, false)
            return
        }
        guard let path = realpath(given, nil) else {
            throw Failure(.usage, "--strata \(given): \(String(cString: strerror(errno)))")
        }
        defer { free(path) }
        let folder = String(cString: path)
        guard Self.isStrata(folder) else {
            throw Failure(.usage, "--strata \(given): there is no package of strata, with \(Self.mark) in it")
        }
        (place, isFolder, isOwn) = (folder, true, false)
    }

    /// The package's folder; nil for a URL.
    var folder: String? { isFolder ? place : nil }

    /// A description for a person.
    var description: String {
        isOwn ? "strata in \(place), which this program was built from" : "strata \(isFolder ? "in" : "at") \(place)"
    }

    /// The dependency's declaration in Package.swift.
    var declaration: String {
        let literal = SwiftLiteral.string(place)
        return isFolder
            ? ".package(name: \"strata\", path: \(literal))" : ".package(url: \(literal), branch: \"main\")"
    }

    /// SwiftPM's name for the package, which declarations of products use.
    var identity: String {
        if isFolder { return "strata" }
        let last = place.split(separator: "/").last.map(String.init) ?? place
        return last.hasSuffix(".git") ? String(last.dropLast(4)) : last
    }

    /// Checks that SwiftPM won't confuse the app with the package. SwiftPM knows a package by the
    /// last part of its path.
    func checkApart(from app: String) throws(Failure) {
        let last = place.split(separator: "/").last.map { $0.lowercased() }
        guard last != app, identity.lowercased() != app else {
            throw Failure(
                .usage,
                "SwiftPM would take \(app) for the package in \(place), whose last part is the same: choose another "
                    + "name")
        }
    }

    /// The package in a folder around this program, such as the one around `.build/debug`.
    private static var own: String? {
        var folder = Programs.folder[...]
        while let slash = folder.lastIndex(of: "/") {
            folder = folder[..<slash]
            if isStrata(String(folder)) { return String(folder) }
        }
        return nil
    }

    private static func isStrata(_ folder: String) -> Bool {
        access("\(folder)/Package.swift", R_OK) == 0 && access("\(folder)/\(mark)", R_OK) == 0
    }
}
