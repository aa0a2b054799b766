import StrataCore

/// The names of a new package's parts: such as manifests, SwiftPM, Swift and file
/// systems all take.
struct PackageNames {
    /// The app's, and the package's.
    let app: String
    /// The module that provides an interface of its own name.
    let provider: String
    /// The module that calls it.
    let caller: String
    /// What was asked for, where the app's name was made of it.
    let asked: String?

    /// What SwiftPM would take for another package: this one's dependencies have the
    /// same names.
    private static let takenPackages = ["strata", "swift-argument-parser", "swift-log", "yams"]
    /// Modules and types that the generated sources name, and targets of what the new
    /// package depends on: SwiftPM wants all of them different.
    private static let takenModules = [
        "Action", "Any", "AppTable", "ArgumentParser", "ArgumentParserToolInfo", "Array", "Broadcast",
        "BuiltExecutable", "Bus", "CUV", "CYaml", "Call", "Codable", "Exports", "Foundation", "Glibc",
        "InMemoryLogging", "Int", "Int64", "Interface", "JSON", "Logging", "Module", "ModuleError",
        "PackageDescription", "Protocol", "Self", "Sendable", "Strata", "StrataBrokerCommand", "StrataBus",
        "StrataCommand", "StrataCore", "StrataJSON", "StrataLauncher", "StrataManifest", "StrataPictures",
        "StrataTesting", "String", "Suite", "Swift", "Test", "TestBus", "Testing", "Type", "Yams",
    ]
    /// A line with a name stays within the formatter's width.
    private static let longest = 24

    /// - Throws: `usage` for a name that can't be one, saying what can.
    init(app asked: String, modules: [String]) throws(Failure) {
        let app = Self.converted(asked) ?? asked
        try Self.check(app: app)
        guard modules.count == 2 else {
            throw Failure(
                .usage,
                "--modules wants two names, who provides and who calls; found \(modules.count): "
                    + modules.joined(separator: " "))
        }
        for module in modules { try Self.check(module: module) }
        let (provider, caller) = (modules[0], modules[1])
        // Some file systems don't tell Stock from stock.
        let targets = [provider, caller, "\(provider)Interface", "\(provider)Tests"].map { $0.lowercased() }
        guard Set(targets).count == targets.count else {
            throw Failure(
                .usage,
                "the modules \(provider) and \(caller) would have the same name, or that of the target "
                    + "\(provider)Interface or \(provider)Tests; take others")
        }
        (self.app, self.provider, self.caller) = (app, provider, caller)
        self.asked = app == asked ? nil : asked
    }

    /// A name that has capitals or `_`, and else what a name may have, written as one:
    /// `MyApp` is `my-app`. Nil for any other, where what was meant isn't as plain.
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
            let hint = isFit(fit) ? "; \(fit) would be one" : ""
            throw Failure(
                .usage, "\(app) is no app's name: it has 1 to 32 of a-z, 0-9 and -, and a letter first\(hint)")
        }
        guard !takenPackages.contains(app) else {
            throw Failure(.usage, "\(app) is the name of a package that the new one depends on; take another")
        }
    }

    private static func check(module: String) throws(Failure) {
        let bytes = Array(module.utf8)
        guard isTypeName(bytes) else {
            let fit = typeName(of: module)
            let hint = isTypeName(Array(fit.utf8)) ? "; \(fit) would be one" : ""
            throw Failure(
                .usage,
                "\(module) can't name a module here: it is a Swift type's name too, 1 to \(longest) letters, digits "
                    + "and _, and a capital first\(hint)")
        }
        guard !takenModules.contains(module) else {
            throw Failure(
                .usage, "\(module) means something else in a module's sources, or in strata's: take another name")
        }
        guard Name.withoutRouterSuffix(module) == module else {
            throw Failure(
                .usage,
                "the bus takes Router off the end of an interface's name: say \(Name.withoutRouterSuffix(module)) "
                    + "instead of \(module)")
        }
    }

    private static func isTypeName(_ bytes: [UInt8]) -> Bool {
        (1...longest).contains(bytes.count) && isUpper(bytes[0])
            && bytes.allSatisfy { isUpper($0) || isLower($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
    }

    /// What somebody may have meant: `my-stock` is `MyStock`.
    private static func typeName(of name: String) -> String {
        let words = name.split { !$0.isASCII || !($0.isLetter || $0.isNumber || $0 == "_") }
        return words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// What somebody may have meant: `MyApp` is `my-app`, and `HTTPServer`
    /// `http-server`.
    private static func fitting(_ name: String) -> String {
        var fit: [UInt8] = []
        let bytes = Array(name.utf8)
        for (place, byte) in bytes.enumerated() {
            let before = place > 0 ? bytes[place - 1] : 0
            let next = place + 1 < bytes.count ? bytes[place + 1] : 0
            switch byte {
            case let byte where isUpper(byte):
                // A word begins after a small letter, and with an acronym's last capital.
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
