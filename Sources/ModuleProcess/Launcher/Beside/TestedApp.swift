import Glibc
import StrataCore
import StrataLoop
import StrataManifest

/// The app of `strata test`, whose launcher is a process of its own: a command that descended from
/// the launcher could not be an operator.
public struct TestedApp: Sendable {
    /// The hidden command of `strata` that becomes the launcher.
    public static let word = "test-app"
    /// The launcher's descriptor that says when the bus takes connections.
    static let readyDescriptor: Int32 = 3

    /// The path of the manifest.
    let path: String
    let node: NodeChoice
    /// The rows that run no process, because the command plays them.
    let played: [String]

    public init(_ path: String, node: NodeChoice, playing played: [String]) {
        (self.path, self.node, self.played) = (path, node, played)
    }

    /// Reads the manifest, with the played rows as manual ones.
    /// - Throws: Code 2 for a played row that isn't there, code 3 for a manifest with errors.
    func manifest(_ environment: [String: String]) throws(LaunchError) -> Manifest {
        var manifest: Manifest
        do throws(LaunchError) {
            manifest = try AppRun.manifest(path, node: node, environment: environment)
        } catch {
            throw LaunchError(TestRun.appFailed, error.message)
        }
        for name in played { try play(name, in: &manifest) }
        return manifest
    }

    /// Makes a row manual, so that whoever runs the command may connect as its module.
    private func play(_ name: String, in manifest: inout Manifest) throws(LaunchError) {
        guard let place = manifest.table.modules.firstIndex(where: { $0.name == name }) else {
            let near = nearestNames(to: name, in: manifest.table.modules.map(\.name)).first
            throw LaunchError(
                2, "--play \(name): \(path) has no row \(name)\(near.map { "; did you mean \($0)?" } ?? "")")
        }
        manifest.table.modules[place].start = .manual
        manifest.table.modules[place].required = false
        manifest.table.modules[place].wakes = []
        manifest.table.modules[place].user = nil
        manifest.processes[place].start = .manual
        manifest.processes[place].run = []
        manifest.processes[place].replicas = nil
        manifest.processes[place].executable = nil
        manifest.processes[place].user = nil
    }

    /// Runs the app until it ends; takes over the process.
    /// - Returns: How the app ended.
    public func run(socket: String, environment: [String: String]) throws(LaunchError) -> Launcher.Ending {
        var settings = Launcher.Settings(
            manifest: try manifest(environment), socket: socket, broker: .program(try Programs.broker()),
            environment: environment)
        settings.link = Programs.link
        settings.reload = {
            do throws(LaunchError) { return .success(try manifest(environment)) } catch { return .failure(error) }
        }
        settings.onBus = {
            _ = write(Self.readyDescriptor, "\n", 1)
            close(Self.readyDescriptor)
        }
        let sink = DescriptorSink(descriptor: STDOUT_FILENO)
        return try AppRun.run(settings, to: sink, isTerminal: isatty(STDOUT_FILENO) == 1)
    }
}
