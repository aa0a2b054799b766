internal import Glibc

/// Where the programs are, and a folder for the run's sockets.
struct Places {
    /// The folder of this program and the clients.
    let programs: String
    let broker: String
    /// Gone when the run is over.
    let scratch: String

    init(broker: String) throws {
        var path = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &path, path.count - 1)
        guard count > 0 else { throw Failure("/proc/self/exe can't be read: errno \(errno)") }
        let program = String(decoding: path[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        programs = String(program[..<(program.lastIndex(of: "/") ?? program.startIndex)])
        var template = Array("/tmp/strata-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure("there is no folder in /tmp: errno \(errno)") }
        scratch = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        self.broker = broker
        guard access(broker, X_OK) == 0 else { throw Failure("\(broker) isn't there: build it first") }
    }

    /// `strata`, which stands beside the broker where it was built.
    var launcher: String { broker[..<(broker.lastIndex(of: "/") ?? broker.startIndex)] + "/strata" }

    func program(_ name: String) -> String { programs + "/" + name }
    func scratch(_ name: String) -> String { scratch + "/" + name }

    func remove() { Files.remove(scratch) }
}
