import Glibc
import StrataCore
import StrataLauncher

/// The program `strata-web`, which serves HTTP. It is a package of its own, so not every installation
/// has it.
enum WebProgram {
    /// Replaces this process with the program. Returns only by throwing.
    static func become(_ arguments: [String]) throws(Failure) -> Never {
        let program: String
        do throws(LaunchError) { program = try Programs.web() } catch { throw Failure(.usage, error.message) }
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
        words.append(nil)
        execv(program, words)
        throw Failure(.usage, "\(program) can't be executed: \(String(cString: strerror(errno)))")
    }
}
