import Glibc
import StrataContracts
import StrataCore
import StrataLoop

/// One program that was started to describe itself, until it has ended or its time is over.
final class DescribeQuestion {
    /// The time for one program, in milliseconds.
    static let patience: UInt64 = 5_000
    /// The most bytes of a program's output that are read: its hello, and its contracts.
    private static let most = ContractLimits.moduleBytes + (1 << 20)

    /// The outcome.
    struct End {
        var output: [UInt8] = []
        /// The last lines that it wrote to standard error.
        var errors = LastLines()
        /// Nil if it was killed.
        var exit: ChildProcess.Exit?

        var isCrash: Bool {
            if case .signal = exit { return true }
            return errors.saysCause
        }

        /// Its last words, to be appended to a sentence.
        var words: String { errors.brief.isEmpty ? "" : "; it wrote: \(errors.brief.joined(separator: " | "))" }
    }

    /// The name of the program's row.
    let module: String
    private var end = End()
    private var isLate = false
    private var child: ChildProcess!  // because its callbacks are this object's
    private var reader: OutputReader!
    private var errors: ProcessOutput!
    private var timer: LoopTimer!

    /// Starts a program.
    init(_ module: String, _ command: ChildProcess.Command, _ loop: Loop) throws(SystemError) {
        self.module = module
        var command = command
        let (pipe, errorPipe) = (try Pipe(), try Pipe())
        defer {
            pipe.closeWriting()
            errorPipe.closeWriting()
        }
        reader = try OutputReader(
            loop, descriptor: pipe.reading,
            onBytes: { [unowned self] bytes in if end.output.count < Self.most { end.output += bytes } }, onEnd: {})
        do throws(SystemError) {
            errors = try ProcessOutput(loop, descriptor: errorPipe.reading) { [unowned self] in end.errors.add($0) }
            for one in [pipe, errorPipe] {
                if let user = command.user { one.give(to: user.uid) }
            }
            command.descriptors = [nil, pipe.writing, errorPipe.writing]
            child = try Self.spawn(loop, command) { [unowned self] in end.exit = $0 }
        } catch {
            reader.close()
            errors?.close()
            throw error
        }
        // Killing earlier programs' leftovers took time that doesn't count against this program.
        loop.updateTime()
        timer = LoopTimer(loop) { [unowned self] in isLate = true }
        timer.start(after: Self.patience)
    }

    var pid: Int32 { child.pid }

    /// Whether the program has ended, or its time is over.
    var isOver: Bool { end.exit != nil || isLate }

    /// Returns the outcome of a question that is over. Kills the program if it still runs.
    func finish(_ loop: Loop) -> End {
        timer.close()
        reader.drain()
        errors.processEnded()
        // Kills also what the program has started in the first group of its session.
        Glibc.kill(-child.pid, SIGKILL)
        let result = end
        while end.exit == nil { loop.runOnce(waiting: true) }
        reader.close()
        errors.close()
        return result
    }

    /// Starts a program. A newly built program may still be open for writing, so a failed start is
    /// retried for half a second.
    private static func spawn(
        _ loop: Loop, _ command: ChildProcess.Command, onExit: @escaping (ChildProcess.Exit) -> Void
    ) throws(SystemError) -> ChildProcess {
        for _ in 0..<50 {
            do throws(SystemError) {
                return try ChildProcess(loop, command, onExit: onExit)
            } catch {
                guard Executable.isTemporary(error) else { throw error }
                usleep(10_000)
            }
        }
        return try ChildProcess(loop, command, onExit: onExit)
    }
}
