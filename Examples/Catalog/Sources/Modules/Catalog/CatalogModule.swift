import CatalogInterface
import LogInterface
import StorageInterface
import Strata

/// Shows the packages of the machine: brings them into Storage, and answers
/// from there.
@main
final class CatalogModule: Module {
    static let name = "Catalog"
    /// Milliseconds that the start waits for the import; what is left of it then
    /// goes on behind.
    private static let patience: UInt64 = 10_000
    /// Packages that are kept for who asks again.
    private static let mostItems = 100

    private let bus: Bus
    private let importer: Importer
    /// How many packages there are, as Storage said last; nil where it isn't
    /// known.
    private var total: Int?
    /// Packages that somebody asked for lately, by name.
    private var items: [String: Package] = [:]
    /// How often something changed, as far as this process has heard.
    private var changes = 0

    init(bus: Bus) {
        self.bus = bus
        importer = Importer(bus)
    }

    func register(_ exports: inout Exports) {
        exports.settings(CatalogSettings.self)
        exports.settingsChanged(CatalogSettings.self) { try $0.check() }
        exports.requires(Storage.self)
        exports.reports(LogLine.self, to: Log.name)
        exports.reports(LogWarning.self, to: Log.name)
        exports.action(Catalog.List.self, perform: list)
        exports.action(Catalog.Item.self, perform: item)
        exports.action(Catalog.Search.self, perform: search)
        exports.stream(Catalog.Import.self) { _ in try self.importer.progress() }
        exports.url("list", "/", to: Catalog.List.self)
        exports.url("item", "/:name", to: Catalog.Item.self)
        exports.url("search", "/", to: Catalog.Search.self)
        exports.observe(StorageChanged.self, keep: .latest) { change in
            self.forget()
            self.total = change.counts.packages
        }
        // What Storage broadcasts while one of both is away doesn't get here.
        exports.event("app.moduleLost") { _ in self.forget() }
        exports.event("app.memoryPressure") { _ in self.forget() }
        exports.event("app.reload") { _ in _ = try self.importer.progress() }
    }

    func resumed() { forget() }

    // MARK: The start

    func setUp(_ context: Context) throws { try context.settings(as: CatalogSettings.self).check() }

    /// Storage is in an earlier level: it is ready by now.
    func initialize() async throws {
        let end = bus.now + Self.patience
        do {
            for try await _ in try importer.progress() where bus.now >= end {
                bus.log("the import takes long, and goes on while the catalog is in use")
                return
            }
        } catch let error as ModuleError where error.code == "Catalog.no-status-file" {
            // The catalog is as useful as before, be that empty. The log says why.
        }
    }

    // MARK: What is known

    private func forget() {
        total = nil
        items = [:]
        changes += 1
    }

    // MARK: Actions

    private func list(_ request: Catalog.List) async throws -> Catalog.List.Reply {
        let page = try await bus.call(Storage.Page(after: request.after, limit: try limit(request.limit)))
        return Catalog.List.Reply(items: page.packages, next: page.next, total: try await count())
    }

    private func item(_ request: Catalog.Item) async throws -> Package {
        if let known = items[request.name] { return known }
        let before = changes
        guard let package = try await bus.call(Storage.Find(name: request.name)) else {
            throw ModuleError(
                "Catalog.no-such-item", "no package \(request.name) is installed here: Catalog/search finds names")
        }
        if changes == before {
            if items.count >= Self.mostItems { items = [:] }
            items[request.name] = package
        }
        return package
    }

    private func search(_ request: Catalog.Search) async throws -> Catalog.Search.Reply {
        guard request.q.contains(where: { $0.isLetter || $0.isNumber }) else {
            throw ModuleError(
                "Catalog.empty-query", "the query has no word: say what to look for, as in {\"q\":\"editor\"}")
        }
        let found = try await bus.call(
            Storage.Search(text: request.q, limit: try limit(request.limit), offset: request.offset ?? 0))
        return Catalog.Search.Reply(items: found.packages, total: found.total)
    }

    private func limit(_ asked: Int?) throws -> Int {
        let limit = asked ?? bus.settings(as: CatalogSettings.self).page
        guard 1...Storage.mostAtOnce ~= limit else {
            throw ModuleError.badParams("a limit of \(limit): ask for 1 to \(Storage.mostAtOnce)")
        }
        return limit
    }

    private func count() async throws -> Int {
        if let total { return total }
        let counts = try await bus.call(Storage.Counts())
        // What was broadcast meanwhile is newer.
        if total == nil { total = counts.packages }
        return total ?? counts.packages
    }
}
