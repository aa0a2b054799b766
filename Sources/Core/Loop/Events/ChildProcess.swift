internal import CUV
internal import Glibc
public import StrataCore

/// A process that this one started, until its end is known.
public final class ChildProcess: Handle {
    /// A program to start, and the settings of its process.
    public struct Command: Sendable {
        /// The executable's path, followed by its arguments.
        public var arguments: [String]
        /// The whole environment, each entry as `NAME=value`; nothing is inherited.
        public var environment: [String]
        /// The working directory.
        public var folder: String
        public var user: (uid: UInt32, gid: UInt32)?
        /// Whether the child gets its own session, so that a terminal's ctrl-C doesn't reach it.
        public var ownSession = true
        /// The descriptors of this process that become 0, 1, 2, 3 … in the child.
        ///
        /// For the first three, nil means /dev/null; after that, nil leaves the descriptor closed.
        public var descriptors: [Int32?] = [nil, nil, nil]

        public init(arguments: [String], environment: [String], folder: String) {
            self.arguments = arguments
            self.environment = environment
            self.folder = folder
        }
    }

    /// The way a process ended.
    public enum Exit: Sendable, Equatable, CustomStringConvertible {
        case code(Int32)
        case signal(Int32)

        public var description: String {
            switch self {
            case .code(let code): "exit code \(code)"
            case .signal(let signal): "signal \(signal) (\(String(cString: strsignal(signal))))"
            }
        }
    }

    private var onExit: (Exit) -> Void
    public private(set) var pid: Int32 = 0

    /// Starts a process, which takes 0.7 to 3 ms; throws if it can't be executed.
    ///
    /// A file that isn't a program fails with ENOEXEC. `ProgramFile.isProgram` checks that before
    /// the start, so the file must not change in between.
    public init(_ loop: Loop, _ command: Command, onExit: @escaping (Exit) -> Void) throws(SystemError) {
        precondition(!command.arguments.isEmpty, "a command has at least its executable")
        guard ProgramFile.isProgram(command.arguments[0]) else {
            throw SystemError(ENOEXEC, "start \(command.arguments[0])")
        }
        self.onExit = onExit
        // uv_spawn registers the handle even if it fails, so the memory must live until a close
        // callback. Hence init does nothing here, and the failure of the spawn is handled
        // afterwards.
        var status: Int32 = 0
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { Glibc.close(null) }
        try super.init(UV_PROCESS, "start \(command.arguments[0])") { memory in
            status = Self.spawn(loop, command, null, memory.assumingMemoryBound(to: uv_process_t.self))
            return 0
        }
        guard status == 0 else {
            close()
            throw SystemError(status, "start \(command.arguments[0])")
        }
        pid = memory.assumingMemoryBound(to: uv_process_t.self).pointee.pid
    }

    private static func spawn(
        _ loop: Loop, _ command: Command, _ null: Int32, _ process: UnsafeMutablePointer<uv_process_t>
    ) -> Int32 {
        let arguments = CStrings(command.arguments)
        let environment = CStrings(command.environment)
        var stdio = command.descriptors.enumerated().map { index, descriptor in
            var container = uv_stdio_container_t()
            if let descriptor = descriptor ?? (index < 3 ? null : nil) {
                container.flags = UV_INHERIT_FD
                container.data.fd = descriptor
            } else {
                container.flags = UV_IGNORE
            }
            return container
        }
        var options = uv_process_options_t()
        options.exit_cb = { process, code, signal in
            let object = Unmanaged<ChildProcess>.fromOpaque(process!.pointee.data)
            object._withUnsafeGuaranteedRef { child in
                let ended = child.onExit
                child.close()
                ended(signal != 0 ? .signal(signal) : .code(Int32(truncatingIfNeeded: code)))
            }
        }
        if command.ownSession { options.flags |= UV_PROCESS_DETACHED.rawValue }
        if let user = command.user {
            options.flags |= UV_PROCESS_SETUID.rawValue | UV_PROCESS_SETGID.rawValue
            options.uid = user.uid
            options.gid = user.gid
        }
        return withExtendedLifetime((arguments, environment)) {
            command.folder.withCString { folder in
                stdio.withUnsafeMutableBufferPointer { stdio in
                    options.cwd = folder
                    options.file = UnsafePointer(arguments.pointers[0])
                    options.args = arguments.pointers
                    options.env = environment.pointers
                    options.stdio_count = Int32(stdio.count)
                    options.stdio = stdio.baseAddress
                    return uv_spawn(loop.raw, process, &options)
                }
            }
        }
    }

    /// Sends a signal; returns false if the process has ended.
    @discardableResult
    public func kill(_ signal: Int32) -> Bool {
        guard !isClosed else { return false }
        return uv_process_kill(memory.assumingMemoryBound(to: uv_process_t.self), signal) == 0
    }

    public override func close() {
        super.close()
        onExit = { _ in }
    }
}

/// Strings in C's form: an array of pointers that a null pointer ends.
private final class CStrings {
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    init(_ strings: [String]) {
        count = strings.count
        pointers = .allocate(capacity: count + 1)
        for (index, string) in strings.enumerated() { pointers[index] = strdup(string) }
        pointers[count] = nil
    }

    deinit {
        for index in 0..<count { free(pointers[index]) }
        pointers.deallocate()
    }
}

/// Reports the end of a process which isn't a child of this one.
///
/// It watches a descriptor of the process, since the kernel may soon give the pid to another one.
public final class ProcessEndWatcher: WatchedDescriptor {
    private var onEnd: () -> Void

    /// Begins to watch.
    /// - Parameter onEnd: called once, on the loop's thread; the handle is closed by then.
    /// - Throws: ESRCH if the process no longer exists, ENOSYS before Linux 5.3.
    public init(_ loop: Loop, _ process: ProcessIdentity, onEnd: @escaping () -> Void) throws(SystemError) {
        let operation = "watch process \(process.pid)"
        let descriptor = strata_process_descriptor(process.pid)
        guard descriptor >= 0 else { throw SystemError(errno, operation) }
        // If the pid still belongs to that process now, so does the descriptor, which was opened
        // before.
        guard ProcessIdentity(pid: process.pid) == process else {
            Glibc.close(descriptor)
            throw SystemError(ESRCH, operation)
        }
        self.onEnd = onEnd
        try super.init(loop, descriptor, operation)
        watch(for: UV_READABLE)
    }

    override func happened(_ status: Int32, _ events: Int32) {
        let ended = onEnd
        close()
        ended()
    }

    public override func close() {
        super.close()
        onEnd = {}
    }
}
