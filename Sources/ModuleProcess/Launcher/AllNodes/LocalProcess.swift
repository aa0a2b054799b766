import Glibc
import StrataCore
import StrataLoop

/// A process of an app whose nodes all run on this machine: it ends with the process that started
/// it, even if that is killed.
public enum LocalProcess {
    /// The hidden command of `strata` that becomes the program, once its end is tied to its parent's.
    public static let word = "local-process"

    /// Returns the command that starts a program so.
    static func command(_ words: [String], environment: [String]) -> ChildProcess.Command {
        .init(
            arguments: ["\(Programs.folder)/strata", word, "\(getpid())"] + words, environment: environment,
            folder: SocketChoice.currentFolder)
    }

    /// Makes this process get SIGTERM when its parent ends, and executes the program.
    /// - Parameters:
    ///   - parent: The process that started this one. If it has ended meanwhile, nothing is executed.
    ///   - words: The program's path, followed by its arguments.
    public static func become(_ words: [String], parent: Int32) throws(LaunchError) -> Never {
        do throws(SystemError) { try ProcessControl.endWithParent() } catch { throw LaunchError(1, "\(error)") }
        guard getppid() == parent else { throw LaunchError(1, "process \(parent), which started this one, has ended") }
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        arguments.append(nil)
        execv(words[0], arguments)
        throw LaunchError(1, "\(words[0]) can't be executed: \(String(cString: strerror(errno)))")
    }
}
