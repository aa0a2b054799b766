package import StrataCore

extension JSON {
    /// Whether two values are the same to JSON: 1 and 1.0 are, and members may have any order.
    /// - Parameter ignored: the names of members that aren't compared, wherever they stand.
    package func isSame(as other: JSON, ignoring ignored: Set<String> = []) -> Bool {
        switch (self, other) {
        case (.object(var members), .object(var others)):
            if !ignored.isEmpty {
                members.removeAll { ignored.contains($0.name) }
                others.removeAll { ignored.contains($0.name) }
            }
            let values = Dictionary(others.map { ($0.name, $0.value) }) { first, _ in first }
            return members.count == others.count
                && members.allSatisfy { member in
                    values[member.name].map { member.value.isSame(as: $0, ignoring: ignored) } ?? false
                }
        case (.array(let elements), .array(let others)):
            return elements.count == others.count
                && zip(elements, others).allSatisfy { $0.isSame(as: $1, ignoring: ignored) }
        case (.integer(let whole), .number(let number)), (.number(let number), .integer(let whole)):
            return Double(whole) == number
        default: return self == other
        }
    }
}
