import Glibc
public import StrataCore

/// Adds the options of `strata up -- KEY=VALUE…` to the manifest's `launchOptions`.
public enum LaunchOptions {
    /// Returns the options with the given ones added. A value that is valid JSON is used as JSON,
    /// and any other as a string: `count=3` is a number, `name=Ada` and `name="3"` are strings.
    public static func adding(_ words: [String], to options: JSON) throws(LaunchError) -> JSON {
        guard !words.isEmpty else { return options }
        guard var members = options.object else {
            throw LaunchError(2, "the manifest's launchOptions are not a mapping, so nothing can be added to them")
        }
        for word in words {
            guard let equals = word.firstIndex(of: "="), equals != word.startIndex else {
                throw LaunchError(2, "expected KEY=VALUE after --; found \(word)")
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

/// The reason why an app can't be started, with an exit code.
public struct LaunchError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The exit code: 2 for bad usage, a bad manifest or an unusable path; 3 if a bus already
    /// exists, or if there is none; 1 for anything else.
    public var code: Int32
    /// A message for people: what was asked, what was found, and what to do.
    public var message: String

    /// Creates an error with an exit code and a message.
    public init(_ code: Int32, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}

/// The option `strata up --spans FILE`.
enum SpansOption {
    /// Checks that the file can be appended to. A missing file is created for this user alone,
    /// because spans reveal what the app does.
    /// - Returns: The absolute path, because modules have other working directories.
    static func prepare(_ path: String) throws(LaunchError) -> String {
        guard !path.isEmpty else { throw LaunchError(2, "--spans needs a file name") }
        let path = path.hasPrefix("/") ? path : "\(SocketChoice.currentFolder)/\(path)"
        // A pipe without a reader then fails at once, instead of blocking.
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else {
            throw LaunchError(2, "the modules' spans can't be written to \(path): \(String(cString: strerror(errno)))")
        }
        close(descriptor)
        return path
    }
}

/// The programs of this installation, which are all in one folder.
public enum Programs {
    /// The folder of the running program, with links resolved.
    public static var folder: String {
        guard let path = realpath("/proc/self/exe", nil) else { return "." }
        defer { free(path) }
        let text = String(cString: path)
        return text.lastIndex(of: "/").map { String(text[..<$0]) } ?? "."
    }

    /// The path of `strata-link`, beside the running program. Not every installation has it.
    public static var link: String { folder + "/strata-link" }

    /// Returns the path of `strata-web`, beside the running program. Not every installation has it.
    public static func web() throws(LaunchError) -> String {
        let path = folder + "/strata-web"
        guard access(path, X_OK) == 0 else {
            throw LaunchError(
                2,
                "\(path) isn't there: install the package strata-web, or build it with scripts/web --build")
        }
        return path
    }

    /// Returns a line of `strata-link` without the program's name before it.
    static func linkMessage(_ line: [UInt8]) -> [UInt8] {
        let name = Array("strata-link: ".utf8)
        return line.starts(with: name) ? Array(line.dropFirst(name.count)) : line
    }

    /// Returns the path of `strata-broker`, beside the running program.
    public static func broker() throws(LaunchError) -> String {
        let path = folder + "/strata-broker"
        guard access(path, X_OK) == 0 else {
            throw LaunchError(
                2,
                "\(path) isn't there or can't be executed; it belongs in the folder of the program strata: build both")
        }
        return path
    }

    /// Returns the commands that make a shell find `strata` and the bus; empty if it already does.
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
