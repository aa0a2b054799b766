import Glibc
import StrataCore
import StrataTesting

/// A process whose connection the test speaks on: the broker sees its number,
/// not the test's.
final class OtherProcess {
    let peer: RawPeer
    private let program: ChildProgram

    var pid: Int32 { program.pid }

    /// - Parameter user: as whom it connects; nil is the test's own user. See `openToOthers`.
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

    /// Ends the process. The test holds its connection, as a descendant of it might.
    func end() { program.kill() }

    /// Ends the process, and with it the connection.
    func die() {
        peer.close()
        program.kill()
    }

    deinit { die() }
}

extension TestBus {
    /// Users of this system that are not the test's, who runs as root.
    static let others: (UInt32, UInt32) = (65_534, 1)

    /// Lets every user reach the socket.
    func openToOthers() {
        chmod(folder, 0o711)
        chmod(path, 0o666)
    }

    /// A process of another user that holds so many connections without hello, and opens each
    /// anew as it is closed.
    func flood(_ count: Int) throws -> ChildProgram {
        openToOthers()
        let words = ["--flood", path, "\(Self.others.0)", "\(count)"]
        let flood = try ChildProgram(try BuiltExecutable.path("StrataConnector"), words)
        guard flood.firstLine() == "yes" else {
            throw TestFailure("the flood could not connect: \(flood.outputText)", file: #fileID, line: #line)
        }
        return flood
    }

    /// A row's process that the launcher has started and vouched for, and whose
    /// hello was answered.
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
