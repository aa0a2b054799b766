package import StrataCore

/// The processes of a machine that isn't there: which of them live, and whose children they are.
package final class MemoryProcesses {
    /// The process that the broker runs in.
    package let broker: ProcessIdentity
    private var living: [Int32: (process: ProcessIdentity, parent: Int32)] = [:]
    private var ticks: UInt64 = 1

    package init(broker: ProcessIdentity = ProcessIdentity(pid: 2, startTicks: 1)) {
        self.broker = broker
        living[broker.pid] = (broker, 0)
    }

    /// Starts a process. A number may be used again when its process has ended.
    @discardableResult
    package func start(_ pid: Int32, parent: Int32 = 0) -> ProcessIdentity {
        ticks += 1
        let process = ProcessIdentity(pid: pid, startTicks: ticks)
        living[pid] = (process, parent)
        return process
    }

    package func end(_ pid: Int32) { living[pid] = nil }

    /// The process that has a number now.
    package func living(_ pid: Int32) -> ProcessIdentity? { living[pid]?.process }

    func descent(of process: ProcessIdentity, from ancestor: ProcessIdentity) -> Ancestors.Descent {
        Ancestors.descent(of: process, from: ancestor) { pid in
            pid == 0
                ? ProcessStatus(parent: 0, startTicks: 0)
                : living[pid].map { ProcessStatus(parent: $0.parent, startTicks: $0.process.startTicks) }
        }
    }
}
