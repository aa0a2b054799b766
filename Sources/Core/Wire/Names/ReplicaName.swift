/// The name of one replica of a row with `replicas`, as in `Worker~2`: the row's name and the replica's number.
public struct ReplicaName: Sendable, Equatable, CustomStringConvertible {
    /// The most replicas of a row, and so the highest number.
    public static let most = 64
    static let mark: Character = "~"

    /// The row's name.
    public var row: String
    /// 1 for the first replica.
    public var number: Int

    public init(row: String, number: Int) {
        self.row = row
        self.number = number
    }

    /// Reads a replica's name; nil if this is none.
    public init?(_ name: String) {
        let parts = name.split(separator: Self.mark, omittingEmptySubsequences: false)
        guard parts.count == 2, Name.isModule(String(parts[0])), let number = Int(parts[1]),
            (1...Self.most).contains(number), String(number) == parts[1]
        else { return nil }
        self.init(row: String(parts[0]), number: number)
    }

    public var description: String { "\(row)\(Self.mark)\(number)" }

    /// Returns the name of the row that a module belongs to, which is its own unless it is a replica.
    public static func row(of module: String) -> String { ReplicaName(module)?.row ?? module }

    /// Returns the same for the bytes of a module's name.
    public static func row(of module: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: module.prefix { $0 != UInt8(ascii: "~") })
    }
}
