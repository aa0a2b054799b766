import CatalogInterface
import DpkgStatus
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

    private let bus: Bus
    private var statusFile = "/var/lib/dpkg/status"
    private var pageSize = 20
    /// How many packages there are, as Storage said last; nil where it isn't
    /// known.
    private var total: Int?
    private var isImporting = false

    init(bus: Bus) { self.bus = bus }

    func register(_ exports: inout Exports) {
        exports.requires(Storage.self)
        exports.reports(LogLine.self, to: Log.name)
        exports.action(Catalog.List.self, perform: list)
        exports.action(Catalog.Item.self, perform: item)
        exports.action(Catalog.Search.self, perform: search)
        exports.action(Catalog.Refresh.self) { _ in try await self.refresh() }
        exports.url("list", "/", to: Catalog.List.self)
        exports.url("item", "/:name", to: Catalog.Item.self)
        exports.url("search", "/", to: Catalog.Search.self)
        exports.observe(StorageChanged.self, keep: .latest) { self.total = $0.counts.packages }
        // What Storage broadcasts while one of both is away doesn't get here.
        exports.event("app.moduleLost") { _ in self.total = nil }
    }

    func resumed() { total = nil }

    // MARK: The start

    func setUp(_ context: Context) {
        if let path = context.settings["catalog.status"]?.string { statusFile = path }
        if let size = context.settings["catalog.page"]?.integer { pageSize = Int(size) }
    }

    /// Storage is in an earlier level: it is ready by now.
    func initialize() async throws {
        do {
            guard let running = try await beginImport() else {
                bus.log("\(statusFile) is as it was at the last import")
                return
            }
            let end = bus.now + Self.patience
            while try await running.step() {
                guard bus.now < end else {
                    bus.log("the import takes long, and goes on while the catalog is in use")
                    try bus.background("the import") { try await self.finish(running) }
                    return
                }
            }
            imported(running)
        } catch let error as StatusFileError {
            // The catalog is as useful as before, be that empty.
            isImporting = false
            explain(error)
        }
    }

    // MARK: Importing

    private func refresh() async throws -> Catalog.Refresh.Reply {
        do {
            let running = try await beginImport()
            if let running { try await finish(running) }
            return Catalog.Refresh.Reply(imported: running != nil, packages: try await count())
        } catch let error as StatusFileError {
            throw ModuleError("Catalog.no-status-file", "\(error)")
        }
    }

    /// Nil where the file is as it was at the last import.
    private func beginImport() async throws -> PackageImport? {
        guard !isImporting else {
            throw ModuleError("Catalog.importing", "an import is running already: ask again when it is done")
        }
        isImporting = true
        do {
            let running = try await PackageImport.begin(from: statusFile, into: bus)
            isImporting = running != nil
            return running
        } catch {
            isImporting = false
            throw error
        }
    }

    private func finish(_ running: PackageImport) async throws {
        defer { isImporting = false }
        while try await running.step() {}
        imported(running)
    }

    private func imported(_ running: PackageImport) {
        isImporting = false
        bus.log("imported \(running.count) packages from \(statusFile), removed \(running.removed)")
    }

    private func explain(_ error: StatusFileError) {
        let advice =
            error.isMissing
            ? "this machine has no dpkg, so nothing is imported; the setting catalog.status names a file to import"
            : "nothing is imported"
        bus.log("\(error): \(advice)")
    }

    // MARK: Actions

    private func list(_ request: Catalog.List) async throws -> Catalog.List.Reply {
        let page = try await bus.call(Storage.Page(after: request.after, limit: try limit(request.limit)))
        return Catalog.List.Reply(items: page.packages, next: page.next, total: try await count())
    }

    private func item(_ request: Catalog.Item) async throws -> Package {
        guard let package = try await bus.call(Storage.Find(name: request.name)) else {
            throw ModuleError(
                "Catalog.no-such-item", "no package \(request.name) is installed here: Catalog/search finds names")
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
        let limit = asked ?? pageSize
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
