package import StrataCore

/// The processes of an imaginary machine: which of them live, and their parents.
package final class MemoryProcesses {
    /// The process that the broker runs in.
    package let broker: ProcessIdentity
    private var living: [Int32: (process: ProcessIdentity, parent: Int32)] = [:]
    private var ticks: UInt64 = 1

    package init(broker: ProcessIdentity = ProcessIdentity(pid: 2, startTicks: 1)) {
        self.broker = broker
        living[broker.pid] = (broker, 0)
    }

    /// Starts a process. The number of a process that has ended may be used again.
    @discardableResult
    package func start(_ pid: Int32, parent: Int32 = 0) -> ProcessIdentity {
        ticks += 1
        let process = ProcessIdentity(pid: pid, startTicks: ticks)
        living[pid] = (process, parent)
        return process
    }

    package func end(_ pid: Int32) { living[pid] = nil }

    /// Returns the process that now has this number; nil if there is none.
    package func living(_ pid: Int32) -> ProcessIdentity? { living[pid]?.process }

    func descent(of process: ProcessIdentity, from ancestor: ProcessIdentity) -> Ancestors.Descent {
        Ancestors.descent(of: process, from: ancestor) { pid in
            pid == 0
                ? ProcessStatus(parent: 0, startTicks: 0)
                : living[pid].map { ProcessStatus(parent: $0.parent, startTicks: $0.process.startTicks) }
        }
    }
}
