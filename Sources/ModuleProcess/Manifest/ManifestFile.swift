import Glibc

/// A manifest's bytes: valid UTF-8 of a bounded size, and the folder it lies in.
struct ManifestFile {
    static let longest = 1 << 20

    let bytes: [UInt8]
    /// Absolute, links resolved.
    let folder: String

    struct Failure: Error {
        var message: String
        var line: Int?
    }

    init(path: String) throws(Failure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(message: "can't be opened: \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        bytes = try Self.read(descriptor)
        var iterator = bytes.makeIterator()
        var decoder = UTF8()
        var line = 1
        decoding: while true {
            switch decoder.decode(&iterator) {
            case .scalarValue(let scalar): if scalar == "\n" { line += 1 }
            case .emptyInput: break decoding
            case .error: throw Failure(message: "is not valid UTF-8", line: line)
            }
        }
        var parent = "."
        if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) { parent = String(path[...slash]) }
        guard let resolved = realpath(parent, nil) else {
            throw Failure(message: "its folder can't be resolved: \(String(cString: strerror(errno)))")
        }
        defer { free(resolved) }
        folder = String(cString: resolved)
    }

    private static func read(_ descriptor: CInt) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure(message: "can't be read: \(String(cString: strerror(errno)))") }
            guard count > 0 else { return bytes }
            bytes.append(contentsOf: piece[..<count])
            guard bytes.count <= longest else { throw Failure(message: "is larger than 1 MiB") }
        }
    }
}
