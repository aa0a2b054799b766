import Glibc
import StrataCore
import StrataLoop
import StrataTesting
import TestSupport
import Testing

/// The built `strata` as a process, with a manifest and shell scripts in a folder of its own: its
/// output so far, and how it ended.
final class UpProcess {
    let loop: Loop
    let folder: String
    private(set) var lines: [String] = []
    private(set) var exit: ChildProcess.Exit?
    private var child: ChildProcess?
    private var pending: [UInt8] = []
    private var files: [String] = []
    private var openOutputs = 0
    private var readers: [OutputReader] = []

    /// The path where clients look by default. If set before `start`, the app's socket is there
    /// instead of in `folder`.
    var standardSocket: String?

    var socket: String { standardSocket ?? folder + "/app.sock" }
    var manifest: String { folder + "/strata.yaml" }
    var pid: Int32 { child?.pid ?? 0 }

    init(_ manifest: String, scripts: [String: String] = [:]) throws {
        var template = Array("/tmp/strata-up-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        loop = try Loop()
        try write("strata.yaml", manifest, mode: 0o644)
        for (name, text) in scripts { try write(name, "#!/bin/sh\n\(text)\n", mode: 0o755) }
    }

    func write(_ name: String, _ text: String, mode: mode_t) throws {
        let path = "\(folder)/\(name)"
        try WrittenProgram.write(text, to: path, mode: mode)
        files.append(path)
    }

    /// Notes a file that something else wrote into the folder, so that `cleanUp` removes it too.
    func owns(_ name: String) { files.append("\(folder)/\(name)") }

    /// Starts `strata COMMAND MANIFEST --socket SOCKET`.
    /// - Parameters:
    ///   - hasSocket: whether the command takes a socket.
    ///   - path: its PATH.
    ///   - environment: further variables, `NAME=value` each. Memory pressure on the machine
    ///     doesn't affect the test unless they say so.
    ///   - passed: a service manager's socket, which becomes its descriptor 3.
    ///   - terminal: its controlling terminal; nil for none.
    func start(
        _ command: String = "up", _ more: [String] = [], socket: String? = nil, hasSocket: Bool = true,
        path: String = "/usr/bin:/bin", environment: [String] = [], passed: Int32? = nil,
        terminal: PseudoTerminal? = nil
    ) throws {
        let program = try #require(realpath("/proc/self/exe", nil))
        defer { free(program) }
        let own = String(cString: program)
        let executable = own[..<(own.lastIndex(of: "/") ?? own.endIndex)] + "/strata"
        let place =
            (standardSocket == nil && passed == nil && hasSocket) || socket != nil
            ? ["--socket", socket ?? self.socket] : []
        var words = [String(executable), command, manifest] + place + more
        // A session leader that opens a terminal gets it as its controlling terminal.
        if let terminal { words = ["/bin/sh", "-c", "exec <>\(terminal.path); exec \"$0\" \"$@\""] + words }
        // The process id says for which process a socket is meant.
        if passed != nil {
            words = ["/bin/sh", "-c", "LISTEN_FDS=${LISTEN_FDS-1} LISTEN_PID=$$ exec \"$0\" \"$@\""] + words
        }
        var command = ChildProcess.Command(
            arguments: words,
            environment: ["PATH=\(path)", "HOME=/tmp", "MEMORY_PRESSURE_WATCH=/dev/null"] + environment,
            folder: folder)
        let (output, errors) = (try Pipe(), try Pipe())
        command.descriptors = [nil, output.writing, errors.writing]
        if let passed { command.descriptors.append(passed) }
        exit = nil
        child = try ChildProcess(loop, command) { [unowned self] in self.exit = $0 }
        for pipe in [output, errors] {
            pipe.closeWriting()
            openOutputs += 1
            readers.append(
                try OutputReader(
                    loop, descriptor: pipe.reading, onBytes: { [unowned self] in self.take($0) },
                    onEnd: { [unowned self] in self.openOutputs -= 1 }))
        }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        pending += bytes
        while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(String(decoding: pending[..<end], as: UTF8.self))
            pending.removeFirst(end + 1)
        }
    }

    func said(_ text: String) -> Bool { lines.contains { $0.contains(text) } }
    func signal(_ number: Int32) { child?.kill(number) }

    /// Runs the loop until a condition holds.
    func until(_ condition: () -> Bool, _ location: SourceLocation = #_sourceLocation) throws {
        let hasCome = loop.run(until: condition)
        try #require(hasCome, "it did not come about; lines: \(lines)", sourceLocation: location)
    }

    /// Waits for its end, and for the rest of its output.
    func ended() throws -> ChildProcess.Exit {
        try until { exit != nil && openOutputs == 0 }
        return try #require(exit)
    }

    /// The state of its process, as the kernel shows it: `R`, `S`, `T` …
    var state: String { Self.state(of: pid) }

    static func state(of pid: Int32) -> String {
        let words = text(of: "/proc/\(pid)/stat").split(separator: ")").last?.split(separator: " ")
        return words?.first.map(String.init) ?? ""
    }

    /// Returns the processes whose parent is `strata`.
    func children() -> [Int32] {
        Self.text(of: "/proc/\(pid)/task/\(pid)/children").split(separator: " ").compactMap { Int32($0) }
    }

    /// Returns the broker's process.
    func broker() throws -> Int32 {
        try #require(
            children().first { pid in
                Self.text(of: "/proc/\(pid)/comm").hasPrefix("strata-broker")
            })
    }

    /// Returns the text of a small file; empty if it can't be read.
    static func text(of path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

    static func lives(_ pid: Int32) -> Bool { kill(pid, 0) == 0 }

    /// Removes everything; call it last. If a test failed midway, the app still runs, and without
    /// its launcher it ends by itself.
    func cleanUp() {
        if exit == nil, let child {
            let family = children()
            child.kill(SIGKILL)
            try? until { exit != nil && !family.contains(where: Self.lives) }
        }
        child?.close()
        for reader in readers { reader.close() }
        for path in files { unlink(path) }
        unlink(socket)
        if let standardSocket { rmdir(SocketPath.folder(of: standardSocket)) }
        rmdir(folder)
    }
}
