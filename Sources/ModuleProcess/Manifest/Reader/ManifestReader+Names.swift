import StrataCore

extension ManifestReader {
    static let interfaceRule = "an interface's name ([A-Za-z][A-Za-z0-9._-]{0,63}, not reserved)"
    static let moduleRule = "a module's name ([A-Za-z][A-Za-z0-9._-]{0,63}, not reserved)"
    static let actionRule = "an action's name ([A-Za-z_][A-Za-z0-9._-]{0,63})"

    /// An interface's name without its suffix; nil where it is none.
    static func interface(_ name: String) -> String? {
        let name = Name.withoutRouterSuffix(name)
        return Name.isInterface(name) && !Name.isReserved(name) ? name : nil
    }

    func interface(_ field: Field?) -> String? {
        text(field, Self.interfaceRule) { Self.interface($0) != nil }.flatMap(Self.interface)
    }

    /// A list of interfaces, each once, with their places.
    func interfaces(_ field: Field?) -> [(name: String, field: Field)] {
        unique(elements(field).compactMap { element in interface(element).map { ($0, element) } })
    }

    /// A notification's or an event's name.
    func notification(_ field: Field?) -> String? {
        text(field, "a name of 1 to 256 bytes", where: Self.isNotification)
    }

    static func isNotification(_ name: String) -> Bool { (1...256).contains(name.utf8.count) }

    /// A list of names of notifications or events, each once.
    func notifications(_ field: Field?) -> [String] {
        unique(elements(field).compactMap { element in notification(element).map { ($0, element) } }).map(\.name)
    }

    /// The names that are there for the first time; a second time is an error.
    func unique(_ names: [(name: String, field: Field)]) -> [(name: String, field: Field)] {
        var seen: Set<[UInt8]> = []
        return names.filter { name, field in
            if seen.insert(Array(name.utf8)).inserted { return true }
            fail(field, "expected each name once; \(JSON.string(name)) is in the list already")
            return false
        }
    }

    /// A level's rank.
    func level(_ field: Field?) -> Int? {
        text(field, Self.oneOf(table.levels)) { table.levels.contains($0) }
            .flatMap { table.levels.firstIndex(of: $0) }
    }
}
