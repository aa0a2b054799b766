internal import Glibc
import StrataCore
import StrataLoop

/// A trial of a program: it shows whether the program is a broker that understands a state. The
/// program gets the state's file, and nothing else of this process.
final class Trial {
    /// The most time that the trial may take, in milliseconds.
    private static let patience: UInt64 = 5_000
    /// The most bytes of its output that a message quotes.
    private static let longestWords = 1_024
    /// The most bytes that it may write before it is killed.
    private static let mostSaid = 64 << 10

    private let path: String
    private let expected: [UInt8]
    private let then: (String?) -> Void
    private var child: ChildProcess?
    private var reader: OutputReader?
    private var timer: LoopTimer?
    /// The first bytes that it wrote to standard output and standard error.
    private var words: [UInt8] = []
    private var said = 0
    /// The reason why it was killed; nil if it wasn't.
    private var fault: String?

    /// Starts the program.
    /// - Parameters:
    ///   - state: the state's file; remains the caller's.
    ///   - then: called once, later, with nil or with what is wrong with the program.
    init(
        _ loop: Loop, _ path: String, state: Int32, expecting answer: [UInt8], then: @escaping (String?) -> Void
    ) throws(SystemError) {
        self.path = path
        expected = answer
        self.then = then
        let output = try Pipe()
        // With the only writing end in the child, its end is also the end of the output.
        defer { output.closeWriting() }
        reader = try OutputReader(
            loop, descriptor: output.reading, onBytes: { [unowned self] in took($0) }, onEnd: {})
        do throws(SystemError) {
            var command = ChildProcess.Command(
                arguments: [path, "--try", "3"], environment: Self.environment, folder: "/")
            command.descriptors = [nil, output.writing, output.writing, state]
            child = try ChildProcess(loop, command) { [unowned self] in ended($0) }
        } catch {
            reader?.close()
            throw error
        }
        timer = LoopTimer(loop) { [unowned self] in end("did not read its state within \(Self.patience) ms") }
        timer?.start(after: Self.patience)
    }

    /// Kills the program and its process group.
    func end(_ fault: String) {
        guard let child, self.fault == nil else { return }
        self.fault = fault
        kill(-child.pid, SIGKILL)
    }

    private func took(_ bytes: UnsafeRawBufferPointer) {
        words += bytes.prefix(max(0, Self.longestWords - words.count))
        said += bytes.count
        if said > Self.mostSaid { end("said more than \(Self.mostSaid) bytes when it was tried") }
    }

    private func ended(_ exit: ChildProcess.Exit) {
        reader?.drain()
        reader?.close()
        timer?.close()
        child = nil
        then(problem(exit))
    }

    private func problem(_ exit: ChildProcess.Exit) -> String? {
        if let fault { return "\(path) \(fault)" }
        if exit == .code(0) {
            if words == expected { return nil }
            return "\(path) is not a strata-broker that understands this one's state: it was tried, and ended with "
                + "exit code 0, but said \(words.isEmpty ? "nothing" : "\"\(Self.quoted(words))\"")"
        }
        return "\(path) was tried, and ended with \(exit)\(words.isEmpty ? "" : ": \(Self.quoted(words))")"
    }

    /// As a line that a terminal shows and does not obey.
    private static func quoted(_ bytes: [UInt8]) -> String {
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).joined(separator: "; ")
        return String(
            String.UnicodeScalarView(lines.unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : $0 }))
    }

    private static var environment: [String] {
        var all: [String] = []
        var next = environ
        while let entry = next.pointee {
            all.append(String(cString: entry))
            next += 1
        }
        return all.filter { !$0.hasPrefix("STRATA_LIFELINE=") }
    }
}
