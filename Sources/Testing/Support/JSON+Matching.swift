public import StrataCore

extension JSON {
    /// Whether this has everything that a pattern has: an object all its
    /// members, whatever else it holds; any other value must be equal. Arrays
    /// are compared element by element, and have the same length.
    public func matches(_ pattern: JSON) -> Bool {
        switch (self, pattern) {
        case (.object(let members), .object(let wanted)):
            wanted.allSatisfy { want in
                members.first { $0.name == want.name }?.value.matches(want.value) ?? false
            }
        case (.array(let elements), .array(let wanted)):
            elements.count == wanted.count && zip(elements, wanted).allSatisfy { $0.matches($1) }
        case (.integer(let one), .number(let other)), (.number(let other), .integer(let one)):
            Double(one) == other
        default: self == pattern
        }
    }

    /// As bytes on the wire.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    /// This object with further members behind its own.
    func adding(_ further: JSON) -> JSON {
        .object((object ?? []) + (further.object ?? []))
    }
}
