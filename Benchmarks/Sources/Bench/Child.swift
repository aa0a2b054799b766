internal import Glibc
internal import Launch

/// A process of the run: its lines are read here, and it ends with the run.
final class Child {
    let id: pid_t
    private let name: String
    private var input: Int32
    private let output: Int32
    private var buffer: [UInt8] = []
    private var status: Int32?

    /// Starts a program.
    /// - Parameters:
    ///   - cpu: the one it may run on; nil for any.
    ///   - descriptor: becomes its descriptor 3, and is closed here.
    ///   - silent: what it says on standard error isn't shown.
    init(
        _ words: [String], cpu: Int? = nil, descriptor: Int32 = -1, silent: Bool = false
    ) throws {
        var toChild: [Int32] = [-1, -1]
        var fromChild: [Int32] = [-1, -1]
        guard launch_pipe(&toChild) == 0, launch_pipe(&fromChild) == 0 else {
            throw Failure("there are no pipes: errno \(errno)")
        }
        let null = silent ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1
        var arguments: [UnsafePointer<CChar>?] = words.map { UnsafePointer(strdup($0)) }
        arguments.append(nil)
        id = launch(arguments, Int32(cpu ?? -1), [toChild[0], fromChild[1], null, descriptor])
        for word in arguments { free(UnsafeMutablePointer(mutating: word)) }
        for used in [toChild[0], fromChild[1], null, descriptor] where used >= 0 { close(used) }
        name = words[0]
        input = toChild[1]
        output = fromChild[0]
        guard id > 0 else { throw Failure("\(name) can't be started: errno \(-id)") }
    }

    deinit {
        end()
        close(output)
    }

    var isRunning: Bool {
        if status != nil { return false }
        var ended: Int32 = 0
        guard waitpid(id, &ended, WNOHANG) == id else { return true }
        status = ended
        return false
    }

    /// Its next line; fails where it ends before, or says nothing for so long.
    func line(within seconds: Int32 = 60) throws -> String {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: buffer[..<end], as: UTF8.self)
                buffer.removeFirst(end + 1)
                return line
            }
            var waiting = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, seconds * 1000) > 0 else {
                throw Failure("\(name) said nothing for \(seconds) s")
            }
            var piece = [UInt8](repeating: 0, count: 4096)
            let count = read(output, &piece, piece.count)
            guard count > 0 else { throw Failure("\(name) ended without an answer") }
            buffer += piece[..<count]
        }
    }

    /// Tells it, by the end of its standard input, that it isn't needed any more.
    func release() {
        if input >= 0 { close(input) }
        input = -1
    }

    /// Ends it: SIGTERM, then SIGKILL where it takes longer than so many milliseconds.
    func end(within milliseconds: Int = 10_000) {
        release()
        guard isRunning else { return }
        Glibc.kill(id, SIGTERM)
        // Because waitpid has no time limit.
        for _ in 0..<milliseconds where isRunning { usleep(1000) }
        kill()
    }

    /// Ends it at once: one that has nothing to put in order.
    func kill() {
        release()
        guard isRunning else { return }
        Glibc.kill(id, SIGKILL)
        var ended: Int32 = 0
        waitpid(id, &ended, 0)
        status = ended
    }
}
