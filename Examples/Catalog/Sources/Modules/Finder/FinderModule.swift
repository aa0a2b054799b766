import CatalogInterface
import FinderInterface
import Strata

/// A proxy: it provides `Finder`, requires `Catalog`, and keeps nothing. An
/// adapter of the manifest renames; where values have to be computed, such as an
/// offset from a page, a module of its own stands between the two.
@main
final class FinderModule: Module {
    static let name = "Finder"
    /// An offset beyond is no page of any catalog.
    private static let mostPages = 1_000_000
    /// Bytes of the longest word that is looked up as a name: a request's key has no more.
    private static let longestName = 64

    private let bus: Bus

    init(bus: Bus) { self.bus = bus }

    func register(_ exports: inout Exports) {
        exports.settings(FinderSettings.self)
        exports.settingsChanged(FinderSettings.self) { try $0.check() }
        exports.requires(Catalog.self)
        exports.requires("Suggest")
        exports.action(Finder.Find.self, perform: find)
    }

    func setUp(_ context: Context) throws { try context.settings(as: FinderSettings.self).check() }

    private func find(_ request: Finder.Find) async throws -> Finder.Find.Reply {
        let page = request.page ?? 1
        guard 1...Self.mostPages ~= page else {
            throw ModuleError.badParams("page \(page): the first page is 1, the last possible \(Self.mostPages)")
        }
        let size = bus.settings(as: FinderSettings.self).page
        let found = try await bus.call(
            Catalog.Search(q: request.words.joined(separator: " "), limit: size, offset: (page - 1) * size))
        return Finder.Find.Reply(
            found: found.items, page: page, pages: (found.total + size - 1) / size,
            similar: found.total == 0 ? try await similar(to: request.words[0]) : nil)
    }

    /// Asks Suggest. The word is the key, so a replica of Suggest that has had it before gets it again, and knows
    /// the answer. Without Suggest there is none.
    private func similar(to word: String) async throws -> [String]? {
        guard 1...Self.longestName ~= word.utf8.count else { return nil }
        do {
            return try await bus.call("Suggest/names", ["name": .string(word)], key: word)["names"]?.array?
                .compactMap(\.string)
        } catch let error as BusError where error.code != .cancelled {
            return nil
        }
    }
}
