import StrataCore

/// The connections to other apps' brokers, which serve those apps' URLs: one for each app.
package struct LinkTable {
    /// The most links at once. For one more, the one that has been idle longest is closed.
    package static let most = 16
    /// How long a link stays without an open request, in milliseconds.
    package static let idleTime: UInt64 = 60_000
    /// The bytes of the other broker's last word that are kept.
    static let longestWord = 256

    private(set) var links: [Link] = []

    func find(_ app: OtherApp) -> Link? { links.first { $0.app == app } }
    func find(_ peer: Peer) -> Link? { links.first { $0.peer === peer } }

    mutating func add(_ link: Link) { links.append(link) }
    mutating func remove(_ link: Link) { links.removeAll { $0 === link } }

    /// The link that has served nothing for the longest time; nil if all serve requests.
    var longestIdle: Link? {
        links.filter(\.isIdle).min { $0.peer.lastRequest < $1.peer.lastRequest }
    }
}

/// A connection to another app's broker.
final class Link {
    let app: OtherApp
    let peer: Peer
    /// The other broker's limits on what it reads; nil until it has answered hello.
    private(set) var limits: FrameLimits?
    /// The requests that wait until it has answered hello, oldest first. Some may have ended.
    private(set) var waiting: [CallReference] = []
    /// What the other broker said when it refused this connection or ended it; empty for nothing.
    private(set) var lastWord = ""

    init(_ app: OtherApp, _ peer: Peer) { (self.app, self.peer) = (app, peer) }

    /// Continues a link of the previous program's bus.
    init(_ state: LinkState, _ peer: Peer, waiting: [CallReference]) {
        app = state.app
        self.peer = peer
        limits = state.header == 0 ? nil : FrameLimits(frame: state.frame, header: state.header)
        self.waiting = waiting
        lastWord = state.lastWord
    }

    var isIdle: Bool { peer.isOpen && peer.servedCount == 0 }

    /// Adds a request that waits.
    /// - Returns: false if `most` wait already.
    func wait(_ call: CallPointer, most: Int) -> Bool {
        if waiting.count >= most { waiting.removeAll { !$0.isOpen } }
        guard waiting.count < most else { return false }
        waiting.append(CallReference(call))
        return true
    }

    func takeWaiting() -> [CallPointer] {
        defer { waiting = [] }
        return waiting.filter(\.isOpen).map(\.call)
    }

    func greeted(_ limits: FrameLimits) { self.limits = limits }

    /// Notes an error of the other broker, which may lack both.
    func said(_ code: String, _ message: String) {
        let word = "\(code.isEmpty ? "failed" : code): \(message.isEmpty ? "it gave no message" : message)"
        lastWord = BusError(.failed, word).shortened(to: LinkTable.longestWord).message
    }
}

/// The state of a `Link`.
struct LinkState: StatePart {
    var name = ""
    var socket = ""
    var hasUser = false
    var user: UInt32 = 0
    var frame: UInt32 = 0
    /// 0 until hello is answered.
    var header: UInt32 = 0
    var waiting: [CallReferenceState] = []
    var lastWord = ""

    init() {}

    init(_ link: Link) {
        switch link.app.place {
        case .name(let name): self.name = name
        case .socket(let path): socket = path
        }
        (hasUser, user) = (link.app.user != nil, link.app.user ?? 0)
        (frame, header) = (link.limits?.frame ?? 0, link.limits?.header ?? 0)
        waiting = link.waiting.filter(\.isOpen).map(CallReferenceState.init)
        lastWord = link.lastWord
    }

    var app: OtherApp { OtherApp(name.isEmpty ? .socket(socket) : .name(name), user: hasUser ? user : nil) }

    mutating func fields(_ file: inout StateFile) throws(StateError) {
        try file(1, &name)
        try file(2, &socket)
        try file(3, &hasUser)
        try file(4, &user)
        try file(5, &frame)
        try file(6, &header)
        try file(7, &waiting)
        try file(8, &lastWord)
    }
}
