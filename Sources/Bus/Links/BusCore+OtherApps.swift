import StrataCore

/// The brokers of other apps that open this app's public URLs. They are strangers: they learn no
/// names of this app, and reach nothing that a row doesn't make public.
extension BusCore {
    /// The most connections of other apps that one user may have.
    private static let mostOfOneUser = 16

    /// Whether a user's brokers may open public URLs.
    func mayOpen(_ uid: UInt32) -> Bool { table.openableBy?.users.contains(uid) == true }

    func admitApp(_ peer: Peer) throws(BusError) {
        let uid = peer.credentials.uid
        try require(
            mayOpen(uid), .forbidden,
            "user \(uid) may not open URLs of \(table.app): list the user in openableBy of its manifest")
        try refuseDescendant(peer, "another app")
        let count = connections.all.count { $0.role == .app && $0.isOpen && $0.credentials.uid == uid }
        try require(
            count < Self.mostOfOneUser, .overloaded,
            "user \(uid) has \(count) connections of other apps to \(table.app), the most that one user may have")
        try checkPlace(nil)
    }

    /// Answers the hello of another app with what it needs alone.
    func answerApp(_ peer: Peer, _ id: UInt64) {
        let limits: JSON = ["frame": JSON(table.limits.frame), "header": JSON(table.limits.header)]
        writeReply(peer, id: id, ["app": .string(table.app), "limits": limits])
    }

    /// Resolves the URL of an open. For another app, a URL that isn't mapped and one that isn't public
    /// are the same.
    /// - Returns: nil if the open goes on to another app.
    func resolve(_ header: borrowing Header, from peer: Peer) throws(BusError) -> URLMatch<URLTarget>? {
        let match: URLMatch<URLTarget>?
        do throws(BusURLError) {
            match = try routes.urls.resolve(header.url, schemes: table.schemes)
        } catch {
            if error.code == .unknownScheme, let app = otherApp(of: header.url, for: peer) {
                try open(in: app, header, from: peer)
                return nil
            }
            guard peer.role == .app, error.code != .badURL else {
                throw BusError(ErrorCode(error.code.rawValue), error.message)
            }
            match = nil
        }
        guard peer.role == .app else { return match }
        try require(
            match?.value.isPublic == true, .forbidden,
            "\(table.app) does not let other apps open this URL: its manifest must say public: true at it")
        let depth = Self.depth(header)
        try require(
            Int(depth) <= table.limits.depth, .tooDeep,
            "the open is at least request \(depth) of its chain, and limits.depth is \(table.limits.depth)")
        return match
    }

    /// Continues the chain of another app's open.
    func takeDepth(of call: CallPointer, _ header: borrowing Header, from peer: Peer) {
        if peer.role == .app { call.pointee.depth = Self.depth(header) }
    }

    /// Ends the sessions of other apps that the manifest would now refuse, or give another level.
    func endFormerApps() {
        let former = connections.inOrder.filter {
            $0.role == .app && $0.isOpen && !(mayOpen($0.credentials.uid) && $0.rank == table.openableBy?.rank)
        }
        for peer in former {
            end(
                peer, .shuttingDown,
                "openableBy of \(table.app) has changed for user \(peer.credentials.uid): connect anew")
        }
    }
}

extension BusError {
    /// Returns the error as another app gets it: where the bus's message might name the app's modules,
    /// interfaces or reasons, another one takes its place.
    func toldOutside(_ app: String) -> BusError {
        var told = self
        switch code {
        case .unavailable: told.message = "the module behind the URL in \(app) isn't running, and can't be waited for"
        case .died: told.message = "the module behind the URL in \(app) ended before it had answered"
        case .replaced: told.message = "the module behind the URL in \(app) was replaced: ask again"
        case .overloaded: told.message = "\(app) has no room for the request at present: ask again later"
        case .deadlineExceeded: told.message = "there was no answer from \(app) within the deadline"
        case .unknownAction, .unknownInterface, .unknownInstance:
            told.message = "\(app) maps the URL to an action that isn't there"
        case .unauthorized: told.message = "the authorizer of \(app) did not allow it"
        case .shuttingDown: told.message = "\(app) is ending, or its manifest has changed"
        default: break
        }
        return told
    }
}
