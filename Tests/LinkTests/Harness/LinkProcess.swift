import Glibc
import StrataCore
import StrataLoop
import TestSupport
import Testing

/// The built `strata-link` as a process: its output, and how it ended.
final class LinkProcess {
    private(set) var exit: ChildProcess.Exit?
    private var child: ChildProcess?
    private var readers: [OutputReader] = []
    private var outputs: [[UInt8]] = [[], []]
    private var open = 0
    private let loop: Loop
    /// The end of the lifeline that the test holds.
    private var lifeline: Int32 = -1

    /// What it has written to standard output and to standard error.
    var output: String { String(decoding: outputs[0], as: UTF8.self) }
    var errors: String { String(decoding: outputs[1], as: UTF8.self) }

    /// Starts the program with arguments.
    /// - Parameter configuration: what it reads from descriptor 3; nil for no descriptor.
    init(_ loop: Loop, _ arguments: [String], configuration: [UInt8]? = nil) throws {
        self.loop = loop
        let program = try #require(realpath("/proc/self/exe", nil))
        defer { free(program) }
        let path = String(cString: program)
        let executable = path[..<(path.lastIndex(of: "/") ?? path.endIndex)] + "/strata-link"
        var command = ChildProcess.Command(
            arguments: [String(executable)] + arguments, environment: ["STRATA_LIFELINE=4"], folder: "/")
        let file = try configuration.map { try MemoryFile.make("link", holding: $0) }
        let pipes = try (0..<3).map { _ in try Pipe() }
        lifeline = pipes[2].writing
        command.descriptors = [nil, pipes[0].writing, pipes[1].writing, file, pipes[2].reading]
        child = try ChildProcess(loop, command) { [unowned self] in self.exit = $0 }
        for pipe in pipes[..<2] { pipe.closeWriting() }
        pipes[2].closeReading()
        if let file { close(file) }
        for index in 0...1 {
            open += 1
            readers.append(
                try OutputReader(
                    loop, descriptor: pipes[index].reading, onBytes: { [unowned self] in self.outputs[index] += $0 },
                    onEnd: { [unowned self] in self.open -= 1 }))
        }
    }

    func signal(_ signal: Int32) { child?.kill(signal) }

    /// Closes the lifeline.
    func letGo() {
        guard lifeline >= 0 else { return }
        close(lifeline)
        lifeline = -1
    }

    /// Waits for its end, and for the rest of its output.
    @discardableResult
    func end() -> ChildProcess.Exit? {
        #expect(loop.run(until: { self.exit != nil && self.open == 0 }), "\(errors)")
        letGo()
        return exit
    }
}
