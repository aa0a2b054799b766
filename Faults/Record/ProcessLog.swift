internal import Glibc

/// A process's log, as it is read after the run.
public struct ProcessLog: Sendable {
    public var process: UInt32
    public var role: UInt8
    public var pid: Int32
    /// The node on which it ran.
    public var node: UInt8
    /// The number of the replica that it is; 0 for none.
    public var replica: UInt8
    /// The time at which it began, in nanoseconds: before its first hello.
    public var begun: UInt64
    public var records: [Record]

    public init(
        process: UInt32, role: UInt8, pid: Int32, node: UInt8 = 0, replica: UInt8 = 0, begun: UInt64 = 0,
        _ records: [Record]
    ) {
        self.process = process
        self.role = role
        self.pid = pid
        self.node = node
        self.replica = replica
        self.begun = begun
        self.records = records
    }

    /// Returns all logs of a folder, in the order in which their processes started. Cuts each
    /// file to its written length.
    public static func all(in folder: String) throws(RecordError) -> [ProcessLog] {
        var logs: [ProcessLog] = []
        while let log = try read(RecordLog.path(folder, UInt32(logs.count + 1)), UInt32(logs.count + 1)) {
            logs.append(log)
        }
        return logs
    }

    private static func read(_ path: String, _ number: UInt32) throws(RecordError) -> ProcessLog? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw RecordError("the log \(path) can't be read: errno \(errno)")
        }
        // The process was killed before it could write.
        let nothing = ProcessLog(process: number, role: .max, pid: 0, [])
        guard status.st_size > 0 else { return nothing }
        guard let memory = mmap(nil, status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0), memory != MAP_FAILED
        else { throw RecordError("the log \(path) can't be read: errno \(errno)") }
        defer { munmap(memory, status.st_size) }
        let all = UnsafeBufferPointer(
            start: memory.assumingMemoryBound(to: Record.self), count: status.st_size / MemoryLayout<Record>.size)
        guard all[0].number > 0 else { return nothing }
        let end = all.dropFirst().firstIndex { $0.eventNumber == 0 } ?? all.endIndex
        truncate(path, end * MemoryLayout<Record>.size)
        return ProcessLog(
            process: number, role: all[0].kind, pid: Int32(bitPattern: all[0].extra), node: all[0].code,
            replica: all[0].ran, begun: all[0].time, Array(all[1..<end]))
    }
}
