import PackageDatabase
import StorageInterface
import Strata

/// Keeps packages and notes in a SQLite file, which nobody else opens.
///
/// What blocks runs beside the loop: reads side by side, writes one after
/// another. Each write is followed by `storage.changed`.
@main
final class StorageModule: Module {
    static let name = "Storage"

    private let bus: Bus
    private var database: PackageDatabase?

    init(bus: Bus) { self.bus = bus }

    func register(_ exports: inout Exports) {
        exports.settings(StorageSettings.self)
        exports.broadcasts(StorageChanged.self)
        exports.action(Storage.Page.self) { request in
            try Self.check(request.limit)
            return try await self.read { try $0.page(after: request.after, limit: request.limit) }
        }
        exports.action(Storage.Find.self) { request in
            try await self.read { try $0.find(request.name) }
        }
        exports.action(Storage.Search.self) { request in
            try Self.check(request.limit)
            return try await self.read {
                try $0.search(request.text, limit: request.limit, offset: max(0, request.offset))
            }
        }
        exports.action(Storage.Counts.self) { _ in try await self.read { try $0.counts() } }
        exports.stream(Storage.Dump.self) { _ in
            DumpSequence(snapshot: try await self.read { try $0.snapshot() })
        }
        registerImport(&exports)
        registerNotes(&exports)
    }

    private func registerImport(_ exports: inout Exports) {
        exports.action(Storage.BeginImport.self) { request in
            try await self.write { try $0.beginImport(stamp: request.stamp) }
        }
        exports.action(Storage.Put.self) { request in
            try Self.check(request.packages.count)
            try await self.write { try $0.put(request.packages, number: request.number) }
            try await self.changed(.packages)
        }
        exports.action(Storage.CompleteImport.self) { request in
            guard let reply = try await self.write({ try $0.completeImport(request.number) }) else {
                throw ModuleError(
                    "Storage.no-such-import", "there is no import \(request.number): another one was completed since")
            }
            try await self.changed(.packages, removed: reply.removed)
            return reply
        }
    }

    private func registerNotes(_ exports: inout Exports) {
        exports.action(Storage.AddNote.self) { request in
            let note = try await self.write { try $0.addNote(on: request.item, request.text, by: request.writer) }
            if note != nil { try await self.changed(.notes) }
            return note
        }
        exports.action(Storage.Notes.self) { request in
            try await self.read { try $0.notes(on: request.item, limit: Storage.mostAtOnce) }
        }
        exports.action(Storage.StrayNotes.self) { _ in
            try await self.read { try $0.strayNotes(limit: Storage.mostAtOnce) }
        }
    }

    func setUp(_ context: Context) async throws {
        let path = context.settings(as: StorageSettings.self).file
        database = try await blocking(label: "write") {
            do {
                try Folder.make(for: path)
                return try PackageDatabase(path: path)
            } catch {
                throw ModuleError("Storage.no-database", "\(path) can't be opened: \(error)")
            }
        }
    }

    func tearDown() async throws {
        guard let database else { return }
        self.database = nil
        // Reads that still run keep the file open; the process's end closes it.
        try? await blocking(label: "write") { try database.close() }
    }

    private func changed(_ part: StorageChanged.Part, removed: Int = 0) async throws {
        let counts = try await read { try $0.counts() }
        try bus.broadcast(StorageChanged(part, counts, removed: removed))
    }

    private func read<Result: Sendable>(
        _ work: @escaping @Sendable (PackageDatabase) throws -> Result
    ) async throws -> Result {
        try await run(label: nil, work)
    }

    private func write<Result: Sendable>(
        _ work: @escaping @Sendable (PackageDatabase) throws -> Result
    ) async throws -> Result {
        try await run(label: "write", work)
    }

    private func run<Result: Sendable>(
        label: String?, _ work: @escaping @Sendable (PackageDatabase) throws -> Result
    ) async throws -> Result {
        guard let database else { throw ModuleError("Storage.no-database", "the database isn't open: Storage ends") }
        return try await blocking(label: label) { try work(database) }
    }

    private static func check(_ count: Int) throws {
        guard 0...Storage.mostAtOnce ~= count else {
            throw ModuleError.badParams("\(count) packages at once: ask for 0 to \(Storage.mostAtOnce)")
        }
    }
}
