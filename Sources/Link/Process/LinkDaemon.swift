internal import Glibc
internal import StrataCore
internal import StrataLoop

/// The link as a program: `strata-link --configuration FD`, or `strata-link key PATH`.
///
/// The first runs a link until its end. Its configuration is JSON in the file behind the descriptor
/// (`LinkConfiguration`). It ends in order at SIGTERM, at SIGINT, and when the pipe closes whose descriptor
/// `STRATA_LIFELINE` names. The second makes a node's key: the seed goes into a new file with mode 0600, and the
/// public key to standard output.
///
/// Exit codes: 0 after an orderly end; 1 if the broker is gone or has refused the link; 2 for bad usage, a bad
/// configuration or an unusable key; 3 if another process has this node's name; 4 if the NATS server doesn't guard the
/// nodes' names; 5 if it refuses the key.
public enum LinkDaemon {
    private static let usage =
        "usage: strata-link --configuration FD, as `strata up` starts it; or strata-link key PATH, to make a node's key"

    /// Does what the arguments say, and exits.
    public static func main() -> Never {
        let words = Array(CommandLine.arguments.dropFirst())
        do {
            switch (words.first, words.count) {
            case ("key", 2): print(try KeyFile.make(words[1]).publicKey)
            case ("--configuration", 2):
                guard let descriptor = Int32(words[1]) else { throw LinkError(usage) }
                exit(try run(try readConfiguration(descriptor)))
            default: throw LinkError(usage)
            }
            exit(0)
        } catch {
            say("\(error)")
            exit(2)
        }
    }

    /// Runs a link until its end.
    private static func run(_ configuration: LinkConfiguration) throws -> Int32 {
        // Writing to a closed socket fails, instead of killing the process.
        signal(SIGPIPE, SIG_IGN)
        let loop = try Loop()
        let link = try Link(loop, configuration)
        link.say = say
        var code: Int32 = 0
        link.onEnd = { ending in
            code = ending.exitCode
            if let text = ending.text { say(text) }
            loop.stop()
        }
        var handles: [Handle] = []
        handles.append(try SignalWatcher(loop, signal: SIGTERM, onSignal: link.shutDown))
        handles.append(try SignalWatcher(loop, signal: SIGINT, onSignal: link.shutDown))
        if let lifeline = getenv("STRATA_LIFELINE").flatMap({ Int32(String(cString: $0)) }) {
            handles.append(
                try OutputReader(loop, descriptor: lifeline, onBytes: { _ in }, onEnd: link.shutDown))
        }
        try link.start()
        withExtendedLifetime(handles) { loop.run() }
        return code
    }

    private static func readConfiguration(_ descriptor: Int32) throws(LinkError) -> LinkConfiguration {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        var count = 0
        while count < bytes.count {
            let read = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress! + count, $0.count - count)
            }
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else {
                throw LinkError("the configuration can't be read from descriptor \(descriptor): errno \(errno)")
            }
            if read == 0 { break }
            count += read
        }
        close(descriptor)
        guard count < bytes.count else { throw LinkError("the configuration has 64 KiB or more") }
        do {
            return try LinkConfiguration(json: try JSON(parsing: Array(bytes[..<count])))
        } catch {
            throw LinkError("the configuration can't be used: \(error)")
        }
    }

    /// Writes a message to standard error, for the launcher or a person.
    private static func say(_ message: String) {
        let line = Array("strata-link: \(Printable.line(message))\n".utf8)
        _ = write(2, line, line.count)
    }
}

extension Link.Ending {
    fileprivate var exitCode: Int32 {
        switch self {
        case .shutDown: 0
        case .broker: 1
        case .nameTaken: 3
        case .unguarded: 4
        case .refused: 5
        }
    }

    fileprivate var text: String? {
        switch self {
        case .shutDown: nil
        case .broker(let why): "the broker is gone, or has refused the link: \(why)"
        case .refused(let why): why
        case .nameTaken:
            "name-taken: another process is connected to NATS with this node's name: two machines have one name, or an "
                + "old link still runs"
        case .unguarded:
            "unguarded: this NATS server lets anybody speak in any node's name, so no node is connected: give each node "
                + "a user of its own with the permissions that `strata node config` prints, or write `federation: "
                + "{unguarded: true}` into the manifest"
        }
    }
}
