import CatalogInterface
import DpkgStatus
import LogInterface
import StorageInterface
import Strata

/// Runs one import at a time, and tells any number how far it is.
@ModuleActor
final class Importer {
    typealias Progress = Catalog.Import.Element
    /// What of its progress waits for a slow reader.
    private static let window = 16

    private let bus: Bus
    /// What was told last; nil where no import runs.
    private var latest: Progress?
    private var watchers: [AsyncThrowingStream<Progress, any Error>.Continuation] = []

    init(_ bus: Bus) { self.bus = bus }

    /// The progress of the import that runs, which is begun where none does.
    func progress() throws -> AsyncThrowingStream<Progress, any Error> {
        let (stream, watcher) = AsyncThrowingStream<Progress, any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(Self.window))
        watchers.append(watcher)
        if let latest {
            watcher.yield(latest)
        } else {
            tell(Progress(.running, imported: 0))
            do { try bus.background("the import") { await self.run() } } catch {
                end(error)
                throw error
            }
        }
        return stream
    }

    private func run() async {
        do {
            tell(try await importAll())
            end(nil)
        } catch {
            end(error)
        }
    }

    private func importAll() async throws -> Progress {
        let path = bus.settings(as: CatalogSettings.self).status
        do {
            guard let running = try await PackageImport.begin(from: path, into: bus) else {
                bus.log("\(path) is as it was at the last import")
                return Progress(.unchanged, imported: 0, packages: try await bus.call(Storage.Counts()).packages)
            }
            while true {
                if let completed = try await running.step() {
                    bus.log("imported \(running.count) packages from \(path), removed \(completed.removed)")
                    return Progress(
                        .complete, imported: running.count, removed: completed.removed, packages: completed.packages)
                }
                tell(Progress(.running, imported: running.count))
            }
        } catch let error as StatusFileError {
            bus.warn("\(error): \(advice(error))")
            throw ModuleError("Catalog.no-status-file", "\(error)")
        }
    }

    private func advice(_ error: StatusFileError) -> String {
        error.isMissing
            ? "this machine has no dpkg, so nothing is imported; the setting catalog.status names a file to import"
            : "nothing is imported"
    }

    private func tell(_ progress: Progress) {
        latest = progress
        watchers.removeAll { watcher in
            if case .terminated = watcher.yield(progress) { return true }
            return false
        }
    }

    private func end(_ error: (any Error)?) {
        latest = nil
        for watcher in watchers { watcher.finish(throwing: error) }
        watchers = []
    }
}
