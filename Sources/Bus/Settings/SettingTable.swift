import StrataCore

/// The app's values of settings by key.
struct SettingTable {
    private let values: [String: JSON]

    init(_ table: AppTable) {
        values = Dictionary((table.settings.object ?? []).map { ($0.name, $0.value) }) { _, last in last }
    }

    /// Returns what a row's module gets for the keys that it declares, in their order; nil for a key
    /// without a value. A secret's value is its row's alone.
    func values(of row: AppTable.Row, for keys: [SettingKey]) -> [JSON?] {
        let own = row.settings.isEmpty ? [:] : Dictionary(row.settings.map { ($0.name, $0.value) }) { _, last in last }
        let secrets = row.secrets.isEmpty ? [:] : Dictionary(row.secrets.map { ($0.key, $0.value) }) { _, last in last }
        return keys.map { key in
            key.isSecret ? secrets[key.name].map(JSON.string) : own[key.name] ?? values[key.name]
        }
    }

    /// Returns the first of some keys that has a plain value for a row's module. The row's values are
    /// read once: both may be many.
    func firstPlain(of row: AppTable.Row, among keys: [SettingKey]) -> SettingKey? {
        guard !keys.isEmpty else { return nil }
        let own = Set(row.settings.map(\.name))
        return keys.first { values[$0.name] != nil || own.contains($0.name) }
    }

    /// Returns the number by which values are compared; 0 for none. It is the same in each program
    /// (FNV-1a).
    static func digest(_ value: JSON?) -> UInt64 {
        guard let value else { return 0 }
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in value.encoded() { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return max(hash, 1)
    }
}
