import Glibc

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
