internal import StrataCore

extension SchemaGraph {
    /// Larger values aren't made.
    private static let largest = 10_000

    /// Returns for each node the number of values in a small value; nil if none can be made. What a
    /// value is made of is always smaller than itself, so a type that needs itself has no size.
    func smallSizes() -> [Int?] {
        var sizes = [Int?](repeating: nil, count: nodes.count)
        var isChanging = true
        while isChanging {
            isChanging = false
            // Most nodes come after those that contain them.
            for node in nodes.indices.reversed() where sizes[node] == nil {
                guard let size = size(of: node, sizes), size <= Self.largest else { continue }
                sizes[node] = size
                isChanging = true
            }
        }
        return sizes
    }

    private func size(of node: Int, _ sizes: [Int?]) -> Int? {
        switch nodes[node].shape {
        case .any, .null, .boolean, .integer, .number, .enumeration, .map: return 1
        case .string(let text):
            return text.canBeMade(from: nodes[node].schema.examples) ? max(1, text.minimum ?? 0) : nil
        case .array(let items, let minimum, _):
            guard let minimum, minimum > 0 else { return 1 }
            return sizes[items].map { 1 + min(minimum, Self.largest) * $0 }
        case .tuple(let elements): return Self.sum(elements, sizes)
        case .object(let members): return Self.sum(members.list.filter(\.isRequired).map(\.node), sizes)
        case .union(let alternatives): return alternatives.compactMap { sizes[$0] }.min()
        }
    }

    private static func sum(_ parts: [Int], _ sizes: [Int?]) -> Int? {
        var sum = 1
        for part in parts {
            guard let size = sizes[part] else { return nil }
            sum += size
        }
        return sum
    }
}
