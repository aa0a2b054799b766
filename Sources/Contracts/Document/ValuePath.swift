internal import StrataCore

/// The place of a value in a JSON document, written as `$.items[3].name`.
///
/// A step is added without a copy of the steps before it, so a walk over a whole document can carry
/// its path along.
public indirect enum ValuePath: Sendable {
    case root
    case member(String, of: ValuePath)
    case element(Int, of: ValuePath)
    /// Any element of an array.
    case elements(of: ValuePath)
    /// Any member of a map.
    case members(of: ValuePath)

    /// Returns the path of a member of this value.
    public func member(_ name: String) -> ValuePath { .member(name, of: self) }
    /// Returns the path of an element of this value.
    public func element(_ index: Int) -> ValuePath { .element(index, of: self) }

    /// Longer names are cut.
    private static let longestName = 64

    /// Returns a member's step: `.name`, or `["any name"]` if it isn't a plain word.
    private static func step(_ name: String) -> String {
        let isPlain =
            !name.isEmpty && name.utf8.count <= longestName
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "$"):
                    true
                default: false
                }
            }
        return isPlain ? ".\(name)" : "[\(Words.quoted(name, longest: longestName))]"
    }
}

extension ValuePath: CustomStringConvertible {
    public var description: String {
        var steps: [String] = []
        var path = self
        while true {
            switch path {
            case .root: return "$" + steps.reversed().joined()
            case .member(let name, let outer):
                steps.append(Self.step(name))
                path = outer
            case .element(let index, let outer):
                steps.append("[\(index)]")
                path = outer
            case .elements(let outer):
                steps.append("[*]")
                path = outer
            case .members(let outer):
                steps.append(".*")
                path = outer
            }
        }
    }
}
