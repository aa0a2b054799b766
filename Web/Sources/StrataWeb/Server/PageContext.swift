import Hummingbird
import NIOCore

/// What the routes know of a request: also where it comes from, for the log of what is done.
struct PageContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The other side's address; nil for a Unix socket.
    let remoteAddress: SocketAddress?

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        remoteAddress = source.channel.remoteAddress
    }
}
