internal import FaultSystem
internal import Foundation

/// Runs programs that end by themselves.
final class Tools {
    private let places: Places

    init(_ places: Places) { self.places = places }

    /// Returns the path of a program of the system.
    static func find(_ name: String) throws -> String {
        let folders = ["/usr/sbin", "/sbin", "/usr/local/sbin", "/usr/bin", "/bin", "/usr/local/bin"]
        let paths: [String] = folders.map { "\($0)/\(name)" }
        guard let path = paths.first(where: { access($0, X_OK) == 0 }) else {
            throw RunFailure("there is no \(name) on this machine: install it")
        }
        return path
    }

    /// Runs a program, and waits for its end.
    /// - Returns: its output.
    /// - Throws: a `RunFailure` with its output if it fails.
    func run(_ words: [String], network: Int32 = -1) throws -> String {
        let path = places.file("tool.log")
        unlink(path)
        let id = try Self.launch(words, ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"], output: path, network: network)
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        let text = String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
        guard status == 0 else { throw RunFailure("\(words.joined(separator: " ")) failed: \(text)") }
        return text
    }

    /// Starts a program.
    /// - Returns: its process id.
    static func launch(_ words: [String], _ environment: [String], output: String, network: Int32) throws -> Int32 {
        let descriptor = open(output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw RunFailure("\(output) can't be written: errno \(errno)") }
        defer { close(descriptor) }
        let id = withStrings(words) { words in
            withStrings(environment) { fault_launch(words, $0, descriptor, network) }
        }
        guard id > 0 else { throw RunFailure("\(words[0]) can't be started: errno \(-id)") }
        return id
    }

    private static func withStrings<Result>(
        _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers: [UnsafePointer<CChar>?] = strings.map { UnsafePointer(strdup($0)) }
        pointers.append(nil)
        defer { for pointer in pointers { free(UnsafeMutablePointer(mutating: pointer)) } }
        return body(pointers)
    }
}
