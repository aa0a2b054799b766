import StrataCore

/// A setting that a module declares in hello.
struct SettingKey: Hashable, StatePart {
    /// The most settings that one module may declare.
    static let most = 1_024

    var name = ""
    var isSecret = false

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &name)
        try file(2, &isSecret)
    }
}

extension SettingKey {
    /// Reads `["catalog.page", {"name": "session.key", "secret": true}]`; nil if hello has no
    /// `settings`.
    static func declared(in hello: MemberReader) throws(BusError) -> [SettingKey]? {
        guard let array = try hello.array("settings") else { return nil }
        try require(
            array.count <= most, .badParams,
            "hello declares \(array.count) settings, and one module may declare \(most)")
        let keys = try array.map { json throws(BusError) in try SettingKey(json) }
        var names: Set<String> = []
        if let twice = keys.first(where: { !names.insert($0.name).inserted }) {
            throw BusError(.badParams, "hello declares the setting \"\(twice.name)\" twice: declare it once")
        }
        return keys
    }

    private init(_ json: JSON) throws(BusError) {
        if let name = json.string {
            self.name = name
        } else {
            let reader = MemberReader(json, of: "a setting")
            name = try reader.required("name")
            isSecret = try reader.bool("secret") ?? false
        }
        try require(
            (1...256).contains(name.utf8.count), .badParams,
            "a setting's name has 1 to 256 bytes; this one has \(name.utf8.count)")
    }
}
