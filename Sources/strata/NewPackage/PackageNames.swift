import StrataCore

/// The names of a new package's parts. Manifests, SwiftPM, Swift and file systems must all accept
/// them.
struct PackageNames {
    /// The name of the app and of the package.
    let app: String
    /// The module that provides an interface of its own name.
    let provider: String
    /// The module that calls it.
    let caller: String
    /// The name that was asked for, if the app's name was made from it.
    let asked: String?

    /// The names of this package's dependencies. SwiftPM would confuse another package of the
    /// same name with them.
    private static let takenPackages = ["strata", "swift-argument-parser", "swift-log", "yams"]
    /// The modules and types that the generated sources name, and the targets of the new
    /// package's dependencies. SwiftPM wants all of them to differ.
    private static let takenModules = [
        "Action", "Any", "AppTable", "ArgumentParser", "ArgumentParserToolInfo", "Array", "Broadcast",
        "BuiltExecutable", "Bus", "CUV", "CYaml", "Call", "Codable", "Exports", "Foundation", "Glibc",
        "InMemoryLogging", "Int", "Int64", "Interface", "JSON", "Logging", "Module", "ModuleError",
        "PackageDescription", "Protocol", "Self", "Sendable", "Strata", "StrataBrokerCommand", "StrataBus",
        "StrataCommand", "StrataCore", "StrataJSON", "StrataLauncher", "StrataManifest", "StrataPictures",
        "StrataTesting", "String", "Suite", "Swift", "Test", "TestBus", "Testing", "Type", "Yams",
    ]
    /// With longer names, lines would exceed the formatter's width.
    private static let longest = 24

    /// - Throws: `usage` for an unfit name. The message says what is allowed.
    init(app asked: String, modules: [String]) throws(Failure) {
        let app = Self.converted(asked) ?? asked
        try Self.check(app: app)
        guard modules.count == 2 else {
            throw Failure(
                .usage,
                "--modules takes two names, the provider and the caller; found \(modules.count): "
                    + modules.joined(separator: " "))
        }
        for module in modules { try Self.check(module: module) }
        let (provider, caller) = (modules[0], modules[1])
        // Some file systems treat Stock and stock as the same name.
        let targets = [provider, caller, "\(provider)Interface", "\(provider)Tests"].map { $0.lowercased() }
        guard Set(targets).count == targets.count else {
            throw Failure(
                .usage,
                "the modules \(provider) and \(caller) have the same name, or one has the same name as the target "
                    + "\(provider)Interface or \(provider)Tests; choose others")
        }
        (self.app, self.provider, self.caller) = (app, provider, caller)
        self.asked = app == asked ? nil : asked
    }

    /// Converts a name whose only faults are capitals or `_`: `MyApp` becomes `my-app`. Returns
    /// nil for any other name, because its meaning is less clear.
    private static func converted(_ name: String) -> String? {
        let bytes = Array(name.utf8)
        let isPlain = bytes.allSatisfy {
            isUpper($0) || isLower($0) || isDigit($0) || $0 == hyphen || $0 == UInt8(ascii: "_")
        }
        guard isPlain, !isFit(name) else { return nil }
        let fit = fitting(name)
        return isFit(fit) ? fit : nil
    }

    private static func isFit(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        return (1...32).contains(bytes.count) && bytes.allSatisfy { isLower($0) || isDigit($0) || $0 == hyphen }
            && isLower(bytes[0])
    }

    private static func check(app: String) throws(Failure) {
        guard isFit(app) else {
            let fit = fitting(app)
            let hint = isFit(fit) ? "; for instance \(fit)" : ""
            throw Failure(
                .usage, "\(app) can't name an app: a name has 1 to 32 of a-z, 0-9 and -, a letter first\(hint)")
        }
        guard !takenPackages.contains(app) else {
            throw Failure(.usage, "\(app) is the name of a package that the new one depends on; choose another")
        }
    }

    /// Refuses a name that no module of a package can have.
    static func check(module: String) throws(Failure) {
        let bytes = Array(module.utf8)
        guard isTypeName(bytes) else {
            let fit = typeName(of: module)
            let hint = isTypeName(Array(fit.utf8)) ? "; for instance \(fit)" : ""
            throw Failure(
                .usage,
                "\(module) can't name a module here: a name is also a Swift type's, 1 to \(longest) letters, digits "
                    + "and _, a capital first\(hint)")
        }
        guard !takenModules.contains(module) else {
            throw Failure(
                .usage, "\(module) means something else in a module's sources, or in strata's: choose another name")
        }
        guard Name.withoutRouterSuffix(module) == module else {
            throw Failure(
                .usage,
                "the bus removes Router from the end of an interface's name: say \(Name.withoutRouterSuffix(module)) "
                    + "instead of \(module)")
        }
    }

    private static func isTypeName(_ bytes: [UInt8]) -> Bool {
        (1...longest).contains(bytes.count) && isUpper(bytes[0])
            && bytes.allSatisfy { isUpper($0) || isLower($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
    }

    /// Suggests a type name: `MyStock` for `my-stock`.
    private static func typeName(of name: String) -> String {
        let words = name.split { !$0.isASCII || !($0.isLetter || $0.isNumber || $0 == "_") }
        return words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// Suggests an app name: `my-app` for `MyApp`, and `http-server` for `HTTPServer`.
    private static func fitting(_ name: String) -> String {
        var fit: [UInt8] = []
        let bytes = Array(name.utf8)
        for (place, byte) in bytes.enumerated() {
            let before = place > 0 ? bytes[place - 1] : 0
            let next = place + 1 < bytes.count ? bytes[place + 1] : 0
            switch byte {
            case let byte where isUpper(byte):
                // A word begins after a small letter or a digit, and with an acronym's last
                // capital.
                if isLower(before) || isDigit(before) || isUpper(before) && isLower(next) { fit.append(hyphen) }
                fit.append(byte | 0x20)
            case let byte where isLower(byte) || isDigit(byte): fit.append(byte)
            default:
                if let last = fit.last, last != hyphen { fit.append(hyphen) }
            }
        }
        while fit.last == hyphen { fit.removeLast() }
        return String(decoding: fit, as: UTF8.self)
    }

    private static let hyphen = UInt8(ascii: "-")
    private static func isLower(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "a") < 26 }
    private static func isUpper(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "A") < 26 }
    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}
