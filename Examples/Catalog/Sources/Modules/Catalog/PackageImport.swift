import DpkgStatus
import StorageInterface
import Strata

/// One import of the package manager's file into Storage, a batch at a time.
@ModuleActor
final class PackageImport {
    /// Packages in a batch: a few hundred KB.
    nonisolated private static let batch = 100
    /// How often a batch is sent again where Storage dies over it; each time it
    /// is waited for.
    private static let patience = 5

    private let bus: Bus
    private let number: Int64
    private var file: StatusFile
    private(set) var count = 0

    private init(_ bus: Bus, _ number: Int64, _ file: StatusFile) {
        self.bus = bus
        self.number = number
        self.file = file
    }

    /// Nil where the file is as it was at the last import.
    static func begin(from path: String, into bus: Bus) async throws -> PackageImport? {
        let file = try await blocking { try StatusFile(path: path) }
        guard let number = try await insist(on: Storage.BeginImport(stamp: file.stamp), bus) else {
            file.close()
            return nil
        }
        return PackageImport(bus, number, file)
    }

    deinit { file.close() }

    /// Imports the next batch; where there is none, completes it and says what
    /// came of it.
    func step() async throws -> Storage.CompleteImport.Reply? {
        let packages: [Package]
        (packages, file) = try await blocking { [file] in
            var file = file
            return (try file.next(Self.batch), file)
        }
        if packages.isEmpty {
            guard count > 0 else { throw StatusFileError(noPackagesIn: file) }
            return try await Self.insist(on: Storage.CompleteImport(number: number), bus)
        }
        try await Self.insist(on: Storage.Put(number: number, packages: packages), bus)
        count += packages.count
        return nil
    }

    /// Calls what may be done twice: again where the callee died over it.
    @discardableResult
    private static func insist<A: Action>(on action: A, _ bus: Bus) async throws -> A.Reply {
        for _ in 1..<patience {
            do { return try await bus.call(action) } catch let error as BusError where error.code == .died {}
        }
        return try await bus.call(action)
    }
}
