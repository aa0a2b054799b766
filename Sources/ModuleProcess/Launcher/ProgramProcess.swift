import Glibc
import StrataCore
import StrataLoop

/// One process of a program of Strata itself, such as the broker, from its start to its end.
///
/// It owns the child and its output. It leaves to its keeper when to start another one.
final class ProgramProcess {
    /// The descriptor of the first of the process's own descriptors; the lifeline is before it.
    static let firstDescriptor = Surroundings.lifelineDescriptor + 1

    private var child: ChildProcess?
    private var outputs: [ProcessOutput] = []

    /// Starts the program.
    /// - Parameters:
    ///   - arguments: The program's path, followed by its arguments.
    ///   - environment: Its environment, to which the lifeline is added.
    ///   - lifeline: The pipe whose end tells it that this process has ended; nil for none.
    ///   - descriptors: What becomes its descriptors from `firstDescriptor` on. The caller closes
    ///     them.
    ///   - folder: Its working directory.
    ///   - user: The user and group that it runs as; nil for those of this process.
    ///   - onLine: Called with each line that it writes.
    ///   - onExit: Called when it has ended and all of its output has been read.
    /// - Throws: a `SystemError` if it can't be started.
    init(
        _ loop: Loop, _ arguments: [String], environment: [String: String], lifeline: Pipe?, descriptors: [Int32],
        folder: String = "/", as user: (uid: UInt32, gid: UInt32)? = nil, onLine: @escaping ([UInt8]) -> Void,
        onExit: @escaping (ChildProcess.Exit) -> Void
    ) throws(SystemError) {
        let output = try Pipe()
        defer { output.closeWriting() }
        let errors: Pipe
        do throws(SystemError) { errors = try Pipe() } catch {
            output.closeReading()
            throw error
        }
        defer { errors.closeWriting() }
        do throws(SystemError) {
            let lifeline = try lifeline?.reopenReading()
            defer { if let lifeline { Glibc.close(lifeline) } }
            var environment = environment
            if lifeline != nil { environment["STRATA_LIFELINE"] = "\(Surroundings.lifelineDescriptor)" }
            var command = ChildProcess.Command(
                arguments: arguments, environment: environment.map { "\($0.key)=\($0.value)" }, folder: folder)
            command.user = user
            command.descriptors = [nil, output.writing, errors.writing, lifeline] + descriptors
            child = try ChildProcess(loop, command) { [unowned self] exit in
                self.ended()
                onExit(exit)
            }
        } catch {
            output.closeReading()
            errors.closeReading()
            throw error
        }
        // Without a reader, the process writes into a broken pipe, and continues.
        outputs = [output, errors].compactMap { try? ProcessOutput(loop, descriptor: $0.reading, emit: onLine) }
    }

    var pid: Int32 { child?.pid ?? 0 }

    func kill(_ signal: Int32) { child?.kill(signal) }

    private func ended() {
        for output in outputs { output.processEnded() }
        close()
    }

    /// Stops all callbacks.
    func close() {
        child?.close()
        for output in outputs { output.close() }
        outputs = []
    }
}
