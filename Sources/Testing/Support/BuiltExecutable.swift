internal import Glibc

/// The executables of the package that the running tests belong to.
public enum BuiltExecutable {
    /// Returns the path of an executable product or target. SwiftPM puts it beside the running
    /// test program.
    public static func path(_ name: String) throws -> String {
        var space = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &space, space.count)
        guard count > 0 else { throw TestFailure.system("read /proc/self/exe", errno) }
        let program = String(decoding: space[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
        let folder = program[..<(program.lastIndex(of: "/") ?? program.startIndex)]
        let path = "\(folder)/\(name)"
        guard access(path, X_OK) == 0 else {
            throw TestFailure(
                "no executable \(name) is beside the tests, in \(folder): does this package build it?")
        }
        return path
    }
}
