internal import Glibc

/// `bench --broker PATH --folder PATH [--quick | --overload | --monitor | --nodes | --replicas | --instructions | --profile] …`;
/// scripts/bench builds everything and starts it.
@main
enum Bench {
    static func main() {
        do {
            let options = try Options(CommandLine.arguments.dropFirst())
            let places = try Places(broker: options.broker)
            defer { places.remove() }
            try run(options, places)
        } catch {
            Console.complain("bench: \(error)")
            exit(1)
        }
    }

    private static func run(_ options: Options, _ places: Places) throws {
        switch options.mode {
        case .speed(let isQuick): try SpeedReport(isQuick: isQuick, options.folder, places).run(json: options.file)
        case .overload(let isQuick, let only):
            try OverloadReport(isQuick: isQuick, only: only, options.folder, places).run(json: options.file)
        case .instructions(let use): try InstructionReport(options.folder, places).run(use, json: options.file)
        case .monitor(let isQuick): try MonitorReport(isQuick: isQuick, places).run()
        case .files: try FilesReport(places).run()
        case .nodes(let isQuick): try NodesReport(isQuick: isQuick, places).run()
        case .replicas(let isQuick): try ReplicaReport(isQuick: isQuick, places).run()
        case .profile(let name): try InstructionReport(options.folder, places).profile(name)
        }
    }
}
