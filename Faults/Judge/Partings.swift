internal import FaultRecord

/// The times in which a fault explains that requests between two nodes fail.
///
/// A fault parts a node from the others for its own time, and for the app's `lost` after it: the
/// nodes must find each other again. A link, a NATS server or a network that is away for less than
/// `lost` explains nothing, because the nodes then continue where they were. It only lengthens the
/// time of another fault.
struct Partings {
    private struct Window {
        /// The node that it parts from the others; nil if it parts all.
        var node: UInt8?
        /// The role whose requests alone it concerns; nil for all.
        var role: UInt8?
        var from: UInt64
        var to: UInt64
    }

    private var windows: [Window] = []

    /// - Parameter lost: The app's `federation.lost`, in nanoseconds.
    init(_ faults: [Record], lost: UInt64) {
        var short: [Window] = []
        for fault in faults {
            guard let kind = FaultKind(rawValue: fault.kind), let reach = kind.parting(fault) else { continue }
            let time = fault.number * 1_000_000
            let window = Window(
                node: reach.isOfAll ? nil : fault.code, role: reach.role, from: fault.time, to: fault.time + time + lost
            )
            if reach.isOutlived && time < lost { short.append(window) } else { windows.append(window) }
        }
        lengthen(by: short)
    }

    private mutating func lengthen(by short: [Window]) {
        for outage in short.sorted(by: { $0.from < $1.from }) {
            for index in windows.indices {
                let window = windows[index]
                guard window.from <= outage.to, outage.from <= window.to,
                    window.node == nil || outage.node == nil || window.node == outage.node
                else { continue }
                windows[index].to = max(window.to, outage.to)
            }
        }
    }

    /// Whether a fault explains the failure of a request between two nodes.
    /// - Parameters:
    ///   - role: The role of its callee.
    ///   - sent: The time at which it was sent.
    ///   - answered: The time of its answer.
    func explain(_ one: UInt8, _ other: UInt8, role: UInt8, sent: UInt64, answered: UInt64) -> Bool {
        windows.contains { window in
            (window.node == nil || window.node == one || window.node == other)
                && (window.role == nil || window.role == role) && window.from <= answered && sent < window.to
        }
    }
}

extension FaultKind {
    /// Returns what a fault of this kind parts; nil if it parts no nodes.
    /// - `isOfAll`: whether it parts all nodes from each other.
    /// - `isOutlived`: whether the nodes continue after it if it takes less than `lost`.
    fileprivate func parting(_ fault: Record) -> (isOfAll: Bool, isOutlived: Bool, role: UInt8?)? {
        switch self {
        case .killBroker, .killLink, .killNode: (false, false, nil)
        // A replacement that was refused changes nothing.
        case .handOver: fault.detail == 1 ? (false, false, nil) : nil
        case .haltLink, .cutCable: (false, true, nil)
        case .killServer, .haltServer: (true, true, nil)
        case .changeRow: (false, false, UInt8(truncatingIfNeeded: fault.detail))
        case .killModule, .haltModule, .haltBroker, .cutConnection, .halfFrame, .delayReader, .restartModule, .reload,
            .scale,
            .fillDisk, .guestComes, .guestGoes, .killLauncher:
            nil
        }
    }
}
