/// The patterns of one host, by shape.
///
/// A URL is looked up once in each shape that has its number of segments, best shape first. That is
/// at most `2 * URLShape.most` look-ups, whatever the patterns are.
struct URLHost<Value> {
    /// A pattern, and the value that it is mapped to.
    struct Mapping {
        var pattern: URLPattern
        var value: Value
    }

    /// The patterns of one shape; never empty.
    fileprivate struct Group {
        let shape: URLShape
        var mappings: [URLForm: Mapping]
    }

    /// The groups by number of segments, each list ordered by shape, best first.
    private var groups: [Int: [Group]] = [:]
    /// The number of patterns.
    private(set) var count = 0

    /// Returns the mapping that matches a path. If several match, a literal segment beats a bound
    /// one; the leftmost difference decides.
    /// - Returns: the mapping, and the number of look-ups.
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

    /// Returns the mapping of the pattern that matches the same paths.
    func mapping(_ form: URLForm) -> Mapping? {
        guard let place = place(of: form.shape) else { return nil }
        return groups[form.shape.count]?[place].mappings[form]
    }

    /// Maps a pattern and returns the mapping that it replaces, if any.
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

    /// Removes a mapping and returns it.
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

    /// Calls the body with each mapping, in no particular order.
    func forEach(_ body: (Mapping) -> Void) {
        for group in groups.values.joined() { group.mappings.values.forEach(body) }
    }

    // MARK: Shapes

    func has(_ shape: URLShape) -> Bool { place(of: shape) != nil }

    /// Returns the number of shapes among the patterns with this many segments.
    func shapeCount(segments: Int) -> Int { groups[segments]?.count ?? 0 }

    /// Returns the index of a shape among those with its number of segments, by binary search.
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
