import StrataCore

/// The observations of the played module, and which of them gets a notice.
struct PlayedObservations {
    private struct Observation {
        let number: Int64
        let name: String
        let isPattern: Bool
        let object: String?
        /// How many notices of each object it got.
        var noticed: [String?: Int] = [:]

        init(number: Int64, _ json: JSON) {
            self.number = number
            let pattern = json["pattern"]?.string
            (name, isPattern) = (json.string ?? json["name"]?.string ?? pattern ?? "", pattern != nil)
            object = json["object"]?.string
        }

        func takes(_ name: String, _ object: String?) -> Bool {
            (isPattern ? NamePattern.matches(self.name, name) : self.name == name)
                && (self.object == nil || self.object == object)
        }

        func isSame(as json: JSON) -> Bool {
            let other = Observation(number: 0, json)
            return name == other.name && isPattern == other.isPattern && object == other.object
        }
    }

    private var all: [Observation] = []
    private var last: Int64 = 0

    /// Adds observations, each a name or an object with one.
    /// - Parameter row: the row's, which the module has only if it doesn't bring them itself.
    /// - Returns: their numbers.
    mutating func add(_ observations: [JSON], row: [JSON] = []) -> [JSON] {
        let before = all.count
        for observation in observations { add(observation) }
        for observation in row where !all.contains(where: { $0.isSame(as: observation) }) { add(observation) }
        return all[before...].map { .integer($0.number) }
    }

    private mutating func add(_ observation: JSON) {
        last += 1
        all.append(Observation(number: last, observation))
    }

    mutating func remove(_ numbers: [Int64]) { all.removeAll { numbers.contains($0.number) } }

    /// Returns the observation that gets a notice; nil if none fits. Several that fit get it in turn, as each had its
    /// own in the recording.
    mutating func take(_ name: String, _ object: String?) -> Int64? {
        let fitting = all.indices.filter { all[$0].takes(name, object) }
        func count(_ index: Int) -> Int { all[index].noticed[object, default: 0] }
        guard let index = fitting.min(by: { count($0) < count($1) }) else { return nil }
        all[index].noticed[object, default: 0] += 1
        return all[index].number
    }
}
