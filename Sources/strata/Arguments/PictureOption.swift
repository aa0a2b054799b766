public import ArgumentParser
import Glibc
import StrataCore
public import StrataPictures

/// How a picture looks, and where it goes.
struct PictureOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The picture's colours: auto (as its reader has it), light or dark.", valueName: "theme"))
    var theme = Theme.auto

    /// Writes a file, in the place of one that is there; `-` is stdout.
    func write(_ text: String, to path: String) throws(Failure) {
        guard path != "-" else { return StandardOutput.write(Array(text.utf8)) }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw Self.failure(path, errno) }
        defer { close(descriptor) }
        let code = Descriptor.write(Array(text.utf8), to: descriptor)
        guard code == 0 else { throw Self.failure(path, code) }
        if StandardOutput.isTerminal { StandardOutput.write(line: "wrote \(Printable.line(path))") }
    }

    private static func failure(_ path: String, _ code: Int32) -> Failure {
        Failure(.usage, "\(path) can't be written: \(String(cString: strerror(code)))")
    }
}

extension Theme: ExpressibleByArgument {}
