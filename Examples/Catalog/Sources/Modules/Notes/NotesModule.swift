import CoreMetrics
import LogInterface
import NotesInterface
import StorageInterface
import Strata

/// Notes about packages.
@main
final class NotesModule: Module {
    static let name = "Notes"

    private let bus: Bus
    /// `strata metrics` shows it.
    private let added = Counter(label: "notes.added")
    /// How many notes each person has written who hasn't left since.
    private var written: [String: Int] = [:]

    init(bus: Bus) { self.bus = bus }

    func register(_ exports: inout Exports) {
        exports.settings(NotesSettings.self)
        exports.settingsChanged(NotesSettings.self) { _ in }  // each note asks for the limit
        exports.requires(Storage.self)
        exports.requires(NoteLogin.self)
        exports.reports(LogLine.self, to: Log.name)
        exports.action(Notes.Begin.self) { [self] _ in
            let asked = try await bus.call(NoteLogin.Ask(message: "to write notes about packages"))
            return Notes.Begin.Reply(token: asked.ticket)
        }
        exports.action(Notes.Add.self, auth: true, perform: add)
        exports.action(Notes.List.self, perform: list)
        exports.url("note", "/:item", to: Notes.Add.self)
        exports.observe(StorageChanged.self) { try await self.packagesChanged($0) }
        exports.observe(WriterLeft.self) { [self] left in
            if let count = written.removeValue(forKey: left.user) {
                bus.log("\(left.user) leaves, having written \(count)")
            }
        }
    }

    /// The authorizer has allowed it: somebody has signed in.
    private func add(_ request: Notes.Add) async throws -> Note {
        guard request.text.contains(where: { !$0.isWhitespace }) else {
            throw ModuleError("Notes.empty-text", "a note on \(request.item) without a text: say what is to be noted")
        }
        let longest = Int(bus.settings(as: NotesSettings.self).longest)
        guard request.text.utf8.count <= longest else {
            throw ModuleError("Notes.too-long", "a note of \(request.text.utf8.count) bytes: \(longest) is the most")
        }
        let writer = try await bus.call(NoteLogin.Writer(ticket: request.token)).writer
        guard let note = try await bus.call(Storage.AddNote(item: request.item, text: request.text, writer: writer))
        else { throw noSuchItem(request.item) }
        written[writer, default: 0] += 1
        added.increment()
        bus.log("note \(note.id) on \(note.item) by \(writer)")
        return note
    }

    private func list(_ request: Notes.List) async throws -> [Note] {
        let notes = try await bus.call(Storage.Notes(on: request.item))
        if notes.isEmpty, let item = request.item, try await bus.call(Storage.Find(name: item)) == nil {
            throw noSuchItem(item)
        }
        return notes
    }

    /// Notes stay where a package goes; somebody should know.
    private func packagesChanged(_ change: StorageChanged) async throws {
        guard change.removed > 0 else { return }
        let items = Set(try await bus.call(Storage.StrayNotes()).map(\.item)).sorted()
        if !items.isEmpty { bus.log("notes on packages that are gone: \(items.joined(separator: ", "))") }
    }

    private func noSuchItem(_ item: String) -> ModuleError {
        ModuleError("Notes.no-such-item", "no package \(item) is installed here: Catalog/search finds names")
    }
}
