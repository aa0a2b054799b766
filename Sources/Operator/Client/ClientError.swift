internal import Glibc
public import StrataCore
internal import StrataLoop

/// Why a client has no answer. The texts are for people, and can be given to a terminal.
public enum ClientError: Error, CustomStringConvertible {
    /// No bus is there, the connection has ended, or no answer comes.
    case noBus(String)
    /// The path or the request can't be used.
    case unusable(String)
    /// The bus or the callee answered with this error.
    case refused(BusError)
    /// The bus answered with what can't be read.
    case unreadable(String)
    /// An endless stream was silent for so many milliseconds.
    case quiet(UInt64)

    public var description: String {
        switch self {
        case .noBus(let text), .unusable(let text), .unreadable(let text): text
        case .refused(let error): error.description
        case .quiet(let milliseconds): "the stream was quiet for \(milliseconds) ms"
        }
    }

    /// Why nobody took a connection.
    init(connectingTo path: String, _ error: SystemError) {
        self =
            switch SocketAddress.occupant(path) {
            case .nothing: .noBus("no bus at \(path): nothing is there")
            case .dead: .noBus("no bus at \(path): a dead socket is left there, its broker is gone")
            case .foreign: .unusable("\(path) is no socket")
            case .unknown(let code): .unusable("\(path) can't be used: \(String(cString: strerror(code)))")
            // It came this moment, or can't keep up.
            case .live: .noBus("the bus can't be reached: \(error)")
            }
    }
}
