/// The patterns of one host, by shape.
///
/// A URL is looked up once for each shape that patterns with its number of segments
/// have, best shape first: at most `2 * URLShape.most` look-ups, whatever the patterns.
struct URLHost<Value> {
    /// What a pattern is mapped to.
    struct Mapping {
        var pattern: URLPattern
        var value: Value
    }

    /// The patterns of one shape; never none.
    fileprivate struct Group {
        let shape: URLShape
        var mappings: [URLForm: Mapping]
    }

    /// By number of segments; of each the best shape first.
    private var groups: [Int: [Group]] = [:]
    /// How many patterns there are.
    private(set) var count = 0

    /// What is mapped for a path: of all that match it the one with a literal
    /// where the others have a bound segment, leftmost first.
    /// - Returns: the mapping, and how many look-ups it took.
    func match(_ path: [DecodedText]) -> (mapping: Mapping?, lookUps: Int) {
        guard let groups = groups[path.count], !path.contains(where: \.isEmpty) else { return (nil, 0) }
        return withUnsafeTemporaryAllocation(of: UInt64.self, capacity: path.count) { hashes in
            for place in path.indices { hashes[place] = URLForm.hash(path[place], place) }
            var lookUps = 0
            for group in groups {
                lookUps += 1
                if let found = group.mappings[URLForm(group.shape, path, hashes)] { return (found, lookUps) }
            }
            return (nil, lookUps)
        }
    }

    /// What is mapped to a pattern that matches the same paths.
    func mapping(_ form: URLForm) -> Mapping? {
        guard let place = place(of: form.shape) else { return nil }
        return groups[form.shape.count]?[place].mappings[form]
    }

    /// Maps a pattern, in place of what stood there; returns that.
    mutating func set(_ new: Mapping) -> Mapping? {
        let form = new.pattern.form
        let length = form.shape.count
        let replaced: Mapping?
        if let place = place(of: form.shape) {
            replaced = groups[length]?[place].mappings.updateValue(new, forKey: form)
        } else {
            replaced = nil
            let place = groups[length]?.firstIndex { $0.shape.literals < form.shape.literals }
            let group = Group(shape: form.shape, mappings: [form: new])
            groups[length, default: []].insert(group, at: place ?? groups[length]?.count ?? 0)
        }
        if replaced == nil { count += 1 }
        return replaced
    }

    /// Takes a mapping away.
    mutating func remove(_ form: URLForm) -> Mapping? {
        let length = form.shape.count
        guard let place = place(of: form.shape),
            let removed = groups[length]?[place].mappings.removeValue(forKey: form)
        else { return nil }
        count -= 1
        if groups[length]?[place].mappings.isEmpty == true { groups[length]?.remove(at: place) }
        if groups[length]?.isEmpty == true { groups[length] = nil }
        return removed
    }

    /// Calls the body for each mapping, in no order.
    func forEach(_ body: (Mapping) -> Void) {
        for group in groups.values.joined() { group.mappings.values.forEach(body) }
    }

    // MARK: Shapes

    func has(_ shape: URLShape) -> Bool { place(of: shape) != nil }

    /// How many shapes its patterns with so many segments have.
    func shapeCount(segments: Int) -> Int { groups[segments]?.count ?? 0 }

    /// Where a shape stands among those with its number of segments; found by halves.
    private func place(of shape: URLShape) -> Int? {
        guard let groups = groups[shape.count] else { return nil }
        var (low, high) = (0, groups.count)
        while low < high {
            let middle = (low + high) / 2
            if groups[middle].shape.literals > shape.literals { low = middle + 1 } else { high = middle }
        }
        return low < groups.count && groups[low].shape == shape ? low : nil
    }
}

extension URLHost: Sendable where Value: Sendable {}
extension URLHost.Group: Sendable where Value: Sendable {}
extension URLHost.Mapping: Sendable where Value: Sendable {}
