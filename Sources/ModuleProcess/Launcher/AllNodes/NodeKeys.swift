import StrataCore
import StrataLoop

/// The keys of nodes, which `strata-link` makes.
public enum NodeKeys {
    /// Makes a file with a new key.
    /// - Returns: The public key.
    /// - Throws: a `LaunchError` with the words of `strata-link`. Blocks until that has ended.
    public static func make(_ path: String) throws(LaunchError) -> String {
        let program = Programs.link
        if let problem = Executable.problem(program, folder: "/") {
            throw LaunchError(2, "\(problem): it is built where STRATA_LINK is set, and needs libnats-dev")
        }
        var output = ""
        var errors = ""
        var code: ChildProcess.Exit?
        do throws(SystemError) {
            let loop = try Loop()
            let process = try ProgramProcess(
                loop, [program, "key", path], environment: [:], lifeline: nil, descriptors: [],
                folder: SocketChoice.currentFolder,
                onLine: { line in
                    let text = String(decoding: Programs.linkMessage(line), as: UTF8.self)
                    if ServerAccounts.isPublicKey(text) { output = text } else { errors += text }
                },
                onExit: {
                    code = $0
                    loop.stop()
                })
            withExtendedLifetime(process) { loop.run() }
        } catch {
            throw LaunchError(1, Executable.explain(error, program))
        }
        guard code == .code(0), ServerAccounts.isPublicKey(output) else {
            throw LaunchError(2, errors.isEmpty ? "strata-link key ended without a key" : errors)
        }
        return output
    }
}
