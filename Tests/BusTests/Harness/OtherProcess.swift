import Glibc
import StrataCore
import StrataTesting

/// A process whose connection the test speaks on. The broker sees its process id, not the test's.
final class OtherProcess {
    let peer: RawPeer
    private let program: ChildProgram

    var pid: Int32 { program.pid }

    /// - Parameter user: the user as whom it connects; nil for the test's own user. See
    ///   `openToOthers`.
    init(_ bus: TestBus, _ label: String, user: UInt32? = nil, answersLifecycle: Bool = true) throws {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw TestFailure("no socket: error \(errno)", file: #fileID, line: #line) }
        do {
            program = try ChildProgram(
                try BuiltExecutable.path("StrataConnector"), [bus.path] + (user.map { ["\($0)"] } ?? []),
                third: descriptor, label: label)
            let answer = program.firstLine()
            guard answer == "yes" else {
                throw TestFailure("\(label) could not connect: \(answer)", file: #fileID, line: #line)
            }
        } catch {
            close(descriptor)
            throw error
        }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        peer = bus.connect(descriptor: descriptor, label, answersLifecycle: answersLifecycle)
    }

    /// Ends the process. The test keeps its connection, as a descendant might.
    func end() { program.kill() }

    /// Ends the process and its connection.
    func die() {
        peer.close()
        program.kill()
    }

    deinit { die() }
}

extension TestBus {
    /// Users of this system other than the test's own, which is root.
    static let others: (UInt32, UInt32) = (65_534, 1)

    /// Lets every user reach the socket.
    func openToOthers() {
        chmod(folder, 0o711)
        chmod(path, 0o666)
    }

    /// Starts a process of another user that holds `count` connections without hello, and reopens
    /// each one that is closed.
    func flood(_ count: Int) throws -> ChildProgram {
        openToOthers()
        let words = ["--flood", path, "\(Self.others.0)", "\(count)"]
        let flood = try ChildProgram(try BuiltExecutable.path("StrataConnector"), words)
        guard flood.firstLine() == "yes" else {
            throw TestFailure("the flood could not connect: \(flood.outputText)", file: #fileID, line: #line)
        }
        return flood
    }

    /// Starts a process of a row, vouched for by the launcher, and says its hello.
    func process(
        of module: String, _ hello: JSON = [:], answersLifecycle: Bool = true, file: StaticString = #fileID,
        line: UInt = #line
    ) throws -> OtherProcess {
        let process = try OtherProcess(self, module, answersLifecycle: answersLifecycle)
        let token = try vouch(for: module, pid: process.pid)
        try process.peer.hello(
            module, .object([.init("token", .string(token))] + (hello.object ?? [])), file: file, line: line)
        return process
    }
}
