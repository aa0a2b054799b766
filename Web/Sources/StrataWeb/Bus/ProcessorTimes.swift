import Foundation
import StrataOperator

/// How much of a processor the processes of this machine use, between two readings of `/proc`.
struct ProcessorTimes {
    private var last: [Int32: (ticks: UInt64, at: UInt64)] = [:]
    private var shares: [Int32: Double] = [:]
    private static let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))

    /// The percentage of one processor; nil if the process isn't on this machine, or was read only once.
    subscript(pid: Int32) -> Double? { shares[pid] }

    /// Reads the time of each process. Others are forgotten.
    mutating func read(_ pids: [Int32]) {
        let now = Loop.nanoseconds
        var read: [Int32: (ticks: UInt64, at: UInt64)] = [:]
        var shares: [Int32: Double] = [:]
        for pid in pids {
            guard let ticks = Self.ticks(of: pid) else { continue }
            read[pid] = (ticks, now)
            guard let before = last[pid], ticks >= before.ticks, now > before.at else { continue }
            let seconds = Double(ticks - before.ticks) / Self.ticksPerSecond
            shares[pid] = seconds / (Double(now - before.at) / 1e9) * 100
        }
        (last, self.shares) = (read, shares)
    }

    /// The time in user and kernel mode: fields 14 and 15 of `/proc/PID/stat`.
    private static func ticks(of pid: Int32) -> UInt64? {
        // The name is in parentheses and may contain anything.
        guard let text = KernelFile.text("/proc/\(pid)/stat"), let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 12, let user = UInt64(fields[11]), let kernel = UInt64(fields[12]) else { return nil }
        return user + kernel
    }
}
