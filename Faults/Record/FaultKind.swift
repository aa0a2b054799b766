/// The faults that are done to the app.
public enum FaultKind: UInt8, CaseIterable, Sendable {
    case killModule, killBroker
    /// SIGSTOP, and SIGCONT some time later.
    case haltModule, haltBroker
    /// The connection is shut down from outside, with whatever is on its way.
    case cutConnection
    /// A peer writes a part of a frame and closes.
    case halfFrame
    /// A module, or a peer without the runtime, does nothing for a while.
    case delayReader
    case restartModule, handOver, reload
    /// A row gets more or fewer replicas.
    case scale
    case fillDisk
    case guestComes, guestGoes
    case killLauncher
    // Only in an app of several nodes.
    case killLink, haltLink, killServer, haltServer
    /// The network between a node and the NATS server passes nothing for a while.
    case cutCable
    /// A node's processes are killed, and it starts again some time later.
    case killNode
    /// A row has other URLs on one node for a while.
    case changeRow

    public var name: String {
        switch self {
        case .killModule: "module killed"
        case .killBroker: "broker killed"
        case .haltModule: "module halted"
        case .haltBroker: "broker halted"
        case .cutConnection: "connection cut"
        case .halfFrame: "closed in a frame"
        case .delayReader: "reader delayed"
        case .restartModule: "module replaced"
        case .handOver: "broker replaced"
        case .reload: "manifest reloaded"
        case .scale: "row scaled"
        case .fillDisk: "disk filled"
        case .guestComes: "guest came"
        case .guestGoes: "guest went"
        case .killLauncher: "launcher killed"
        case .killLink: "link killed"
        case .haltLink: "link halted"
        case .killServer: "NATS killed"
        case .haltServer: "NATS halted"
        case .cutCable: "cable cut"
        case .killNode: "node killed"
        case .changeRow: "row differs"
        }
    }
}
