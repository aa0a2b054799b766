internal import Glibc
internal import Launch

/// Where a bus listens.
enum Address {
    case path(String)
    /// Of this machine.
    case port(Int)

    /// As the clients take it.
    var text: String {
        switch self {
        case .path(let path): path
        case .port(let port): "127.0.0.1:\(port)"
        }
    }

    var isListening: Bool {
        switch self {
        case .path(let path): launch_listens(path, 0) != 0
        case .port(let port): launch_listens(nil, Int32(port)) != 0
        }
    }
}

extension Child {
    /// Waits until it takes connections there.
    func listens(at address: Address) throws {
        for _ in 0..<120_000 {
            if address.isListening { return }
            guard isRunning else { throw Failure("the bus ended before it listened at \(address.text)") }
            usleep(1000)  // because other projects' buses don't say when they listen
        }
        throw Failure("nobody listened at \(address.text) after 120 s")
    }
}
