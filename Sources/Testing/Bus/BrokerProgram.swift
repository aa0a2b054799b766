internal import Glibc
internal import StrataCore
internal import StrataLoop

/// A broker in a process of its own: `strata-broker --table 3 --socket PATH`.
final class BrokerProgram {
    let child: ChildProgram

    init(_ executable: String, _ table: AppTable, path: String, folder: String) throws {
        let file = "\(folder)/table"
        let descriptor = open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw TestFailure.system("make \(file)", errno) }
        defer { close(descriptor) }
        // The broker gets the table as a descriptor, so the file needs no name.
        unlink(file)
        var rest = table.json().bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw TestFailure.system("write \(file)", errno) }
            rest = rest.dropFirst(count)
        }
        lseek(descriptor, 0, SEEK_SET)
        child = try ChildProgram(
            executable, ["--table", "3", "--socket", path], third: descriptor, label: "the broker")
        try awaitSocket(path)
    }

    /// Waits until the broker listens.
    ///
    /// The socket's file exists before the broker listens on it, and no event reports that. So
    /// this tries to connect again every millisecond.
    private func awaitSocket(_ path: String) throws {
        let deadline = Deadline()
        while SocketAddress.occupant(path) != .live {
            var wanted = pollfd(fd: child.output.descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&wanted, 1, 1) > 0 { child.output.read() }
            guard !child.output.isAtEnd, !deadline.hasPassed else {
                let end = try? child.wait(within: .seconds(1))
                throw TestFailure(
                    "no broker listens on \(path) (\(end.map { "\($0)" } ?? "it runs")): \(child.outputText)")
            }
        }
    }
}
