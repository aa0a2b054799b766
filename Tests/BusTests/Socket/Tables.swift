import StrataCore
import StrataTesting

extension AppTable {
    /// Returns two modules of each level, connected by hand. Their names share no text with the
    /// levels' names, so messages can be searched for both.
    static func sixModules(_ change: (inout AppTable) -> Void = { _ in }) -> AppTable {
        let rows: [Row] = ["Ant", "Bee", "Cat"].enumerated().flatMap { rank, name in
            [Row.manual(name, rank: rank), Row.manual("\(name)2", rank: rank)]
        }
        return .testing(rows, with: change)
    }
}

/// The two modules of each level of `sixModules`, by rank.
let firstOfLevel = ["Ant", "Bee", "Cat"]
let secondOfLevel = ["Ant2", "Bee2", "Cat2"]
let levelNames = ["basic", "middle", "topout"]

extension TestBus {
    /// Connects a module that provides one interface and is played by hand.
    func provider(
        _ module: String, _ interface: String, _ hello: JSON = [:], file: StaticString = #fileID, line: UInt = #line
    ) throws -> RawPeer {
        let interfaces: JSON.Member = .init("interfaces", .object([.init(interface, [:])]))
        return try self.module(module, .object([interfaces] + (hello.object ?? [])), file: file, line: line)
    }
}

extension JSON {
    /// A string of this many bytes.
    static func filler(_ count: Int) -> JSON {
        .string(String(decoding: [UInt8](repeating: UInt8(ascii: "x"), count: count), as: UTF8.self))
    }

    /// Returns an object with these members after its own.
    func with(_ members: JSON) -> JSON { .object((object ?? []) + (members.object ?? [])) }
}

extension ReceivedFrame {
    /// Its id, for use in another frame.
    var number: JSON { self["id"] ?? .null }
}
