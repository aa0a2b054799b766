/// The version of an interface's contract: `2.1`.
///
/// A new major version breaks callers of the earlier one. A new minor version only adds.
public struct ContractVersion: Sendable, Hashable, Comparable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The number before the dot, 0 to 65,535.
    public let major: UInt16
    /// The number after the dot, 0 to 65,535.
    public let minor: UInt16

    public init(major: UInt16, minor: UInt16) {
        self.major = major
        self.minor = minor
    }

    /// Reads `major.minor`, two decimal numbers without leading zeros. Nil if the text isn't that.
    public init?(_ text: some StringProtocol) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 2, let major = Self.number(parts[0]), let minor = Self.number(parts[1]) else {
            return nil
        }
        self.init(major: major, minor: minor)
    }

    /// - Precondition: The literal is a version.
    public init(stringLiteral text: String) {
        guard let version = Self(text) else {
            preconditionFailure("\"\(text)\" is not a version: write major.minor, as in 2.1")
        }
        self = version
    }

    public var description: String { "\(major).\(minor)" }

    /// Returns whether a provider of this version serves callers that were built with another one:
    /// the same major version, and the same or an earlier minor one.
    public func serves(_ required: ContractVersion) -> Bool {
        major == required.major && minor >= required.minor
    }

    public static func < (left: Self, right: Self) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }

    private static func number(_ digits: some Collection<UInt8>) -> UInt16? {
        guard let first = digits.first, first != UInt8(ascii: "0") || digits.count == 1, digits.count <= 5 else {
            return nil
        }
        var number: UInt32 = 0
        for digit in digits {
            guard Name.isDigit(digit) else { return nil }
            number = number * 10 + UInt32(digit - UInt8(ascii: "0"))
        }
        return UInt16(exactly: number)
    }
}

/// An interface that a module requires, and the version of the contract that it was built with:
/// `Storage`, or `Storage@2.1`.
public struct RequiredInterface: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The interface's name, without a `Router` suffix.
    public var name: String
    /// Nil if the module doesn't say, and takes any version.
    public var version: ContractVersion?

    public init(name: String, version: ContractVersion? = nil) {
        self.name = name
        self.version = version
    }

    /// Reads `Name` or `Name@major.minor`, as a person or a peer writes it. Nil if the text is neither.
    public init?(_ text: String) {
        self.init(canonical: text)
        name = Name.withoutRouterSuffix(name)
    }

    /// Reads what `description` gives: the name keeps its suffix, because one was removed before.
    public init?(canonical text: String) {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        name = String(parts[0])
        guard Name.isInterface(name) else { return nil }
        guard parts.count == 2 else { return }
        guard let version = ContractVersion(parts[1]) else { return nil }
        self.version = version
    }

    /// - Precondition: The literal is `Name` or `Name@major.minor`, without a `Router` suffix.
    public init(stringLiteral text: String) {
        guard let required = Self(canonical: text) else {
            preconditionFailure("\"\(text)\" is not a required interface: write Name, or Name@2.1")
        }
        self = required
    }

    public var description: String { version.map { "\(name)@\($0)" } ?? name }
}
