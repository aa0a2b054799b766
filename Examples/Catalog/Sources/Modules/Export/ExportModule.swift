import ExportInterface
import StorageInterface
import Strata

/// Writes everything to a file, or to who asks for it. Started when somebody asks for it, and stopped
/// when nobody did for a while.
@main
final class ExportModule: Module {
    static let name = "Export"

    private let bus: Bus
    private var isRunning = false
    /// What was written last; nil where something has changed since.
    private var current: Export.Run.Reply?
    /// How often something changed, as far as this process has heard.
    private var changes = 0

    init(bus: Bus) { self.bus = bus }

    func register(_ exports: inout Exports) {
        exports.settings(ExportSettings.self)
        exports.settingsChanged(ExportSettings.self) { _ in self.outdated() }
        exports.requires(Storage.self)
        exports.action(Export.Run.self) { _ in try await self.run() }
        exports.action(Export.Save.self, descriptors: .init(params: 1)) { _, call in
            WithDescriptors(try await self.save(to: call.descriptors.first))
        }
        exports.stream(Export.Lines.self) { _ in LineSequence(try self.bus.stream(Storage.Dump())) }
        exports.observe(StorageChanged.self, keep: .latest) { _ in self.outdated() }
        // What Storage broadcasts while one of both is away doesn't get here.
        exports.event("app.moduleLost") { _ in self.outdated() }
    }

    func resumed() { outdated() }

    private var path: String { bus.settings(as: ExportSettings.self).file }

    private func outdated() {
        changes += 1
        current = nil
    }

    private func run() async throws -> Export.Run.Reply {
        guard !isRunning else {
            throw ModuleError("Export.running", "an export to \(path) is being written: ask again when it is done")
        }
        isRunning = true
        defer { isRunning = false }
        if var current, await exists(current.path) {
            current.written = false
            return current
        }
        let before = changes
        let written = try await write()
        if changes == before { current = written }
        return written
    }

    private func write() async throws -> Export.Run.Reply {
        let path = path
        let file = try await blocking { try LinesFile(path: path) }
        do {
            let amount = try await copy(to: file.output)
            try await blocking(label: "file") { try file.complete() }
            return Export.Run.Reply(
                path: file.fullPath, packages: amount.packages, notes: amount.notes, bytes: amount.bytes, written: true)
        } catch {
            file.abandon()
            throw error
        }
    }

    /// Writes to a file that the caller has opened, at the caller's offset.
    private func save(to file: Descriptor?) async throws -> Export.Amount {
        guard let file else {
            throw ModuleError.badParams("Export/save writes to a file that its caller sends: send one descriptor")
        }
        let output = LineOutput(descriptor: file, name: "the file that was sent")
        try await blocking { try output.check() }
        let amount = try await copy(to: output)
        try await blocking(label: "file") { try output.sync() }
        return amount
    }

    private func copy(to output: LineOutput) async throws -> Export.Amount {
        var amount = Export.Amount()
        for try await batch in try bus.stream(Storage.Dump()) {
            amount.bytes += try await blocking(label: "file") { try output.append(batch) }
            amount.packages += batch.packages.count
            amount.notes += batch.notes.count
        }
        return amount
    }

    private func exists(_ path: String) async -> Bool {
        (try? await blocking { LinesFile.exists(path) }) ?? false
    }
}
