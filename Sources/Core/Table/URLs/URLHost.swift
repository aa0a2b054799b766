/// The patterns of one host, by shape.
///
/// A URL is looked up once in each shape that has its number of segments, best shape first, and in
/// each shape with a rest that may be better. That is at most `2 * URLShape.most` look-ups each,
/// whatever the patterns are: modules may bring that many shapes, and rows as many of their own,
/// because a row's patterns are always taken.
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

    /// The groups without a rest by number of segments, each list ordered by shape, best first.
    private var groups: [Int: [Group]] = [:]
    /// The groups with a rest, of all lengths, ordered by shape, best first.
    private var rests: [Group] = []
    /// The number of patterns.
    private(set) var count = 0

    /// Returns the mapping that matches a path. If several match, a literal segment beats a bound
    /// one, and that beats a rest; the leftmost difference decides.
    /// - Returns: the mapping, and the number of look-ups.
    func match(_ path: [DecodedText]) -> (mapping: Mapping?, lookUps: Int) {
        let exact = groups[path.count] ?? []
        guard !(exact.isEmpty && rests.isEmpty), !path.contains(where: \.isEmpty) else { return (nil, 0) }
        // No pattern has more segments.
        let hashed = min(path.count, URLPattern.mostSegments)
        return withUnsafeTemporaryAllocation(of: UInt64.self, capacity: hashed) { hashes in
            for place in 0..<hashed { hashes[place] = URLForm.hash(path[place], place) }
            var (best, lookUps): (Mapping?, Int) = (nil, 0)
            for groups in [exact, rests] {
                for group in groups where group.shape.fits(path.count) {
                    if let best, !group.shape.beats(best.pattern.form.shape) { break }
                    lookUps += 1
                    guard let found = group.mappings[URLForm(group.shape, path, hashes)] else { continue }
                    best = found
                    break
                }
            }
            return (best, lookUps)
        }
    }

    /// Returns the mapping of the pattern that matches the same paths.
    func mapping(_ form: URLForm) -> Mapping? {
        place(of: form.shape).flatMap { self[alike: form.shape][$0].mappings[form] }
    }

    /// Maps a pattern and returns the mapping that it replaces, if any.
    mutating func set(_ new: Mapping) -> Mapping? {
        let form = new.pattern.form
        if let place = place(of: form.shape) {
            let replaced = self[alike: form.shape][place].mappings.updateValue(new, forKey: form)
            if replaced == nil { count += 1 }
            return replaced
        }
        let place = self[alike: form.shape].place { $0.shape.beats(form.shape) }
        self[alike: form.shape].insert(Group(shape: form.shape, mappings: [form: new]), at: place)
        count += 1
        return nil
    }

    /// Removes a mapping and returns it.
    mutating func remove(_ form: URLForm) -> Mapping? {
        let shape = form.shape
        guard let place = place(of: shape),
            let removed = self[alike: shape][place].mappings.removeValue(forKey: form)
        else { return nil }
        count -= 1
        if self[alike: shape][place].mappings.isEmpty { self[alike: shape].remove(at: place) }
        return removed
    }

    /// Calls the body with each mapping, in no particular order.
    func forEach(_ body: (Mapping) -> Void) {
        for group in [rests, Array(groups.values.joined())].joined() { group.mappings.values.forEach(body) }
    }

    // MARK: Shapes

    func has(_ shape: URLShape) -> Bool { place(of: shape) != nil }

    /// Returns the number of shapes that share a limit with this one.
    func shapeCount(beside shape: URLShape) -> Int { self[alike: shape].count }

    /// The groups among which a shape is: those with its number of segments, or those with a rest.
    private subscript(alike shape: URLShape) -> [Group] {
        get { shape.hasRest ? rests : groups[shape.count] ?? [] }
        _modify {
            if shape.hasRest {
                yield &rests
            } else {
                yield &groups[shape.count, default: []]
                if groups[shape.count]?.isEmpty == true { groups[shape.count] = nil }
            }
        }
    }

    /// Returns the index of a shape among those alike, by binary search.
    private func place(of shape: URLShape) -> Int? {
        let groups = self[alike: shape]
        let place = groups.place { $0.shape.beats(shape) }
        return place < groups.count && groups[place].shape == shape ? place : nil
    }
}

extension URLHost: Sendable where Value: Sendable {}
extension URLHost.Group: Sendable where Value: Sendable {}
extension URLHost.Mapping: Sendable where Value: Sendable {}
