internal import FaultRecord
internal import Glibc

/// `faults-peer [guest | operator]`: a part of the fault run's app that speaks the protocol by
/// itself. Without an argument it plays the row that the launcher names.
@main
enum PeerProgram {
    static func main() {
        do {
            let name = variable("STRATA_MODULE") ?? CommandLine.arguments.dropFirst().first ?? ""
            guard let role = Role.named(name), let index = Role.index(of: name), let socket = variable("STRATA_SOCKET")
            else { throw RecordError("\(name) is no role, or STRATA_SOCKET isn't set") }
            let member = try Membership()
            let worker = try RawWorker(
                role, try member.log(role: index), member, socket: socket, token: variable("STRATA_TOKEN"),
                lifeline: variable("STRATA_LIFELINE").flatMap { Int32($0) } ?? -1)
            try worker.run()
        } catch {
            print("\(error)")
            exit(1)
        }
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
