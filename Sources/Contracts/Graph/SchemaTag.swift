internal import StrataCore

/// What tells an object in a union from the other ones.
package enum SchemaTag: Hashable {
    /// A required member with one value: `"kind": "circle"`.
    case value(member: ExactName, is: ExactName)
    /// The only member: `{"circle": …}`.
    case only(ExactName)

    /// The name of the member that tells them apart.
    package var member: String {
        switch self {
        case .value(let member, _), .only(let member): member.text
        }
    }
}

extension SchemaGraph {
    /// Returns what tells an object from other ones; nil if nothing does, or if this is no object.
    package func tag(of node: Int) -> SchemaTag? {
        guard case .object(let members) = nodes[node].shape else { return nil }
        for member in members.list where member.isRequired {
            if case .enumeration(let values) = nodes[member.node].shape, values.count == 1, let value = values.first {
                return .value(member: ExactName(member.name), is: ExactName(value.description))
            }
        }
        guard members.isClosed, members.list.count == 1, let only = members.list.first else { return nil }
        return .only(ExactName(only.name))
    }
}
