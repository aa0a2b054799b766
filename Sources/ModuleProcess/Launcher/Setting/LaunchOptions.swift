import Glibc
public import StrataCore

/// What `strata up -- KEY=VALUE…` adds to the manifest's `launchOptions`.
public enum LaunchOptions {
    /// A value that reads as JSON is that; any other is a string: `count=3`
    /// is a number, `name=Ada` and `name="3"` are strings.
    public static func adding(_ words: [String], to options: JSON) throws(LaunchError) -> JSON {
        guard !words.isEmpty else { return options }
        guard var members = options.object else {
            throw LaunchError(2, "the manifest's launchOptions are no mapping, so nothing can be added to them")
        }
        for word in words {
            guard let equals = word.firstIndex(of: "="), equals != word.startIndex else {
                throw LaunchError(2, "expected KEY=VALUE behind --; found \(word)")
            }
            let name = String(word[..<equals])
            let text = String(word[word.index(after: equals)...])
            let value = (try? JSON(parsing: text)) ?? .string(text)
            members.removeAll { $0.name.utf8.elementsEqual(name.utf8) }
            members.append(JSON.Member(name, value))
        }
        return .object(members)
    }
}

/// Why an app can't be started, and the exit code that says so.
public struct LaunchError: Error, Sendable, Equatable, CustomStringConvertible {
    /// 2 for bad usage, a bad manifest or an unusable path; 3 where a bus is
    /// there already, or none is; 1 for anything else.
    public var code: Int32
    /// What was asked, what was found, and what to do.
    public var message: String

    /// See ``code``.
    public init(_ code: Int32, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}

/// `strata up --spans FILE`.
enum SpansOption {
    /// Looks whether the file can be appended to, and makes it where it isn't
    /// there, for this user alone: spans tell what passes.
    /// - Returns: its path, absolute: modules have other folders.
    static func prepare(_ path: String) throws(LaunchError) -> String {
        guard !path.isEmpty else { throw LaunchError(2, "--spans wants a file's name") }
        let path = path.hasPrefix("/") ? path : "\(SocketChoice.currentFolder)/\(path)"
        // A pipe that nobody reads refuses at once, instead of waiting.
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw LaunchError(2, "the modules' spans can't be written to \(path): \(String(cString: strerror(errno)))")
        }
        close(descriptor)
        return path
    }
}

/// The programs of this installation: they lie beside one another.
public enum Programs {
    /// The folder of the program that runs, links resolved.
    public static var folder: String {
        guard let path = realpath("/proc/self/exe", nil) else { return "." }
        defer { free(path) }
        let text = String(cString: path)
        return text.lastIndex(of: "/").map { String(text[..<$0]) } ?? "."
    }

    /// `strata-broker`, beside the program that runs.
    public static func broker() throws(LaunchError) -> String {
        let path = folder + "/strata-broker"
        guard access(path, X_OK) == 0 else {
            throw LaunchError(
                2, "\(path) isn't there or can't be executed; it belongs beside the program strata: build both")
        }
        return path
    }

    /// How to make a shell find `strata`, and the bus; empty where it does.
    public static func hints(_ socket: SocketChoice, path: String?) -> [String] {
        var hints: [String] = []
        let folder = folder
        if !(path ?? "").split(separator: ":").contains(where: { $0 == folder }) {
            hints.append("export PATH=\"\(folder):$PATH\"")
        }
        if !socket.isStandard { hints.append("export STRATA_SOCKET=\"\(socket.path)\"") }
        return hints
    }
}
