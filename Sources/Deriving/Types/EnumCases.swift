/// The cases of an enum whose cases have no values.
enum EnumCases {
    /// Returns the cases: those of `CaseIterable` if the type has it, else those of its metadata.
    /// Nil if it has neither.
    static func values<Value>(of type: Value.Type) -> [Value]? {
        if let type = type as? any CaseIterable.Type { return all(type) as? [Value] }
        return EnumMetadata(type).flatMap { $0.hasPayloads ? nil : $0.values(of: type) }
    }

    private static func all<Value: CaseIterable>(_ type: Value.Type) -> [Any] { Array(type.allCases) }
}
