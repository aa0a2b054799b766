import StrataCore

/// hello: who a peer is, and what it brings. The first refusal that applies, in the order of the
/// protocol's section 5, ends the connection.
extension BusCore {
    func greet(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, of peer: Peer) {
        if peer.role == .link { return greeted(header, body, by: peer) }
        guard header.kind == .call, isHello(header.to) else {
            return end(
                peer, .notRegistered,
                "the first frame was a \(header.kind == .unknown ? header.unknownKind.text : "\(header.kind.name)"), "
                    + "and a connection begins with a call to bus/hello")
        }
        guard header.id != 0 else {
            return end(peer, .badID, "hello came without a valid id: number it from 1 to 2^53-1")
        }
        statistics.calls += 1
        do throws(BusError) {
            let hello = try Hello(body)
            try require(stage == .running, .shuttingDown, "the app is ending: connect again when it is back")
            try judge(hello, header.id, of: peer)
        } catch {
            end(peer, error, id: header.id)
        }
    }

    private func isHello(_ to: UnsafeRawBufferPointer) -> Bool {
        guard let destination = Destination(to), destination.instance == nil else { return false }
        return UnsafeRawBufferPointer(rebasing: to[destination.interface]).equals("bus")
            && UnsafeRawBufferPointer(rebasing: to[destination.action]).equals("hello")
    }

    private func judge(_ hello: Hello, _ id: UInt64, of peer: Peer) throws(BusError) {
        switch hello.role {
        case .operator:
            try admitOperator(peer)
            register(peer, as: .operator)
            admitDescriptors(hello, of: peer)
            answerHello(peer, id, module: nil, subscriptions: [])
        case .launcher:
            let process = try admitLauncher(peer)
            register(peer, as: .launcher)
            launcherSlot.take(peer)
            launcherSlot.expect(process)
            answerHello(peer, id, module: nil, subscriptions: [])
            launcherArrived()
        case .app(let name):
            try admitApp(peer)
            peer.setOtherApp("app:\(name)")
            register(peer, as: .app, rank: table.openableBy?.rank ?? 0)
            answerApp(peer, id)
        case .link: try admitLink(peer, hello, id)
        case .node(let name): try admitNode(name, peer, hello, id)
        case .module(let name):
            try judgeModule(hello, name, id, of: peer)
        }
    }

    private func admitOperator(_ peer: Peer) throws(BusError) {
        let uid = peer.credentials.uid
        try require(
            isOperator(uid), .forbidden,
            "user \(uid) is not an operator: the broker's user (\(user)), root and the manifest's operators are")
        try refuseDescendant(peer, "an operator")
    }

    func isOperator(_ uid: UInt32) -> Bool { uid == user || uid == 0 || table.operators.contains(uid) }

    /// Whether a user may be the launcher, which says which processes the modules are.
    func mayLaunch(_ uid: UInt32) -> Bool { uid == user || uid == 0 }

    private func admitLauncher(_ peer: Peer) throws(BusError) -> ProcessIdentity {
        let uid = peer.credentials.uid
        try require(
            mayLaunch(uid), .forbidden, "user \(uid) can't be the launcher: the broker's user (\(user)) or root can")
        try refuseDescendant(peer, "a launcher")
        try require(
            launcher == nil, .nameTaken,
            "a launcher is connected already (pid \(launcherSlot.process?.pid ?? 0)): there is one at a time")
        return try identify(launcher: peer)
    }

    // MARK: modules

    private func judgeModule(_ hello: Hello, _ name: String, _ id: UInt64, of peer: Peer) throws(BusError) {
        let row = modules.find(name).flatMap { $0.row == nil ? nil : $0 }
        if row?.replicas != nil {
            throw BusError(
                .unknownModule,
                "the row \(name) has replicas: say which one, as in \(ReplicaName(row: name, number: 1))")
        }
        if let row, row.isRemoved {
            throw BusError(
                .unknownModule,
                "the row of \(name) was removed from the manifest, and its process is ending: this one ends too")
        }
        if let row, row.isAway, row.peer == nil {
            throw BusError(
                .forbidden,
                "\(name) is placed on \(nodes(of: row).joined(separator: " and ")), and this node is \(table.node ?? ""): "
                    + "start it there, or change its node")
        }
        let offered = Dictionary(uniqueKeysWithValues: hello.offer.interfaces.map { ($0.name, $0) })
        try checkURLs(hello, offered, row)
        if let row, !hello.more { try checkProvided(Set(offered.keys), row) }
        try checkQuotas(hello, row)
        guard row != nil || table.guests != nil && ReplicaName(name) == nil else {
            if ReplicaName(name) != nil {
                throw BusError(.unknownModule, "there is no replica \(name), and no guest may have such a name")
            }
            let hint = didYouMean(
                name, modules.rows.lazy.map(\.name), else: "add one to the manifest, or allow guests")
            throw BusError(.unknownModule, "no row of the manifest is named \(name): \(hint)")
        }
        if let guests = table.guests, row == nil, modules.guests.count >= guests.most {
            throw BusError(.overloaded, "\(guests.most) guests are connected (guests.most): close one first")
        }
        try checkPlace(row)
        // Because a guest is allowed here.
        let rank = row?.rank ?? table.guests!.rank(of: name, user: peer.credentials.uid)
        if let level = hello.level, level != levels.names[rank] {
            throw BusError(
                .levelMismatch,
                "\(name) said level \(level), and \(row == nil ? "guests of user \(peer.credentials.uid) have" : "its row says") "
                    + "\(levels.names[rank]): the manifest decides")
        }
        if try admitModule(hello, row, id, of: peer) { try admitted(hello, row, rank, id, of: peer) }
    }

    /// Admits a module that passed every check up to `forbidden`.
    private func admitted(_ hello: Hello, _ row: ModuleRecord?, _ rank: Int, _ id: UInt64, of joining: Peer)
        throws(BusError)
    {
        guard case .module(let name) = hello.role else {
            preconditionFailure("only modules are admitted here, not \(hello.role)")
        }
        try checkSecrets(hello, row)
        let own = modules.find(name)
        try checkOwners(hello.offer, own, name)
        if let live = own, let peer = live.peer, maySucceed(hello, live, peer) {
            try checkFree(hello.offer, of: live.owning)
            try checkContracts(hello, of: live, name)
            joinBeside(joining, live, hello, id)
            return
        }
        if let live = own, live.peer != nil {
            throw BusError(
                .nameTaken, "\(name) is connected already (pid \(live.session.pid)): a name belongs to one process")
        }
        try checkFree(hello.offer, of: own?.group)
        try checkContracts(hello, of: row, name)
        let module = row ?? modules.addGuest(name, rank: rank)
        join(joining, module, hello, id)
    }

    /// Checks that a peer may be the module that it claims to be.
    /// - Returns: false if it waits for a vouch.
    private func admitModule(_ hello: Hello, _ row: ModuleRecord?, _ id: UInt64, of peer: Peer) throws(BusError) -> Bool
    {
        guard let row else {
            try refuseDescendant(peer, "a guest")
            return true
        }
        guard let token = hello.token else {
            try require(
                row.start == .manual, .forbidden,
                "\(row.name) is started by the launcher and came without its token: start it with strata start "
                    + "\(row.name), or give its row start: manual")
            try require(
                peer.credentials.uid == user, .forbidden,
                "user \(peer.credentials.uid) can't start \(row.name) by hand: the broker's user (\(user)) can")
            try refuseDescendant(peer, "a module started by hand")
            return true
        }
        // A vouch ends with its process.
        if let vouch = row.said.vouch, host.isAlive(vouch.process) {
            let isVouched = isOf(peer, vouch.process)
            if isVouched && token == vouch.token {
                peer.noteVouch(vouch.process)
                return true
            }
            // The next process may say hello before its own vouch comes.
            guard isVouched || row.row?.replace != .overlap else { return try waitForVouch(row, id, of: peer) }
            guard isVouched else { throw isNotVouched(peer, row, vouch.process) }
            throw BusError(
                .forbidden,
                "the token of \(row.name) is not the one that the launcher gave to process \(vouch.process.pid)")
        }
        return try waitForVouch(row, id, of: peer)
    }

    /// Returns the refusal of a hello with a token whose process isn't the one that the launcher
    /// vouched for.
    func isNotVouched(_ peer: Peer, _ row: ModuleRecord, _ vouched: ProcessIdentity) -> BusError {
        let pid = peer.credentials.pid
        return BusError(
            .forbidden,
            "process \(pid) said it is \(row.name), and the launcher vouched for "
                + (pid == vouched.pid ? "another one that had its number" : "process \(vouched.pid)"))
    }

    /// The most hellos of one user that may wait for the vouch of one row.
    private static let mostAwaitingVouch = 2

    /// Makes a hello that waited for a vouch be handled again.
    func judgeAgain(_ peer: Peer) {
        move(peer, .vouched)
        event.add(.readOn(peer))
    }

    /// Puts hello back until the launcher vouches, and then it is judged again.
    /// - Returns: false.
    private func waitForVouch(_ row: ModuleRecord, _ id: UInt64, of peer: Peer) throws(BusError) -> Bool {
        let (pid, uid) = (peer.credentials.pid, peer.credentials.uid)
        // The launcher starts a row as the row's `user`, or else as its own user. No other user may
        // have a hello wait here.
        try require(
            uid == row.row?.user || mayLaunch(uid), .forbidden,
            "process \(pid) of user \(uid) said it is \(row.name), which runs as user \(row.row?.user ?? user): the "
                + "launcher starts it")
        let waiting = row.awaitingVouch.compactMap { connections[$0]?.credentials }
        try require(
            !waiting.contains(where: { $0.pid == pid }), .nameTaken,
            "a hello of \(row.name) from process \(pid) waits for the launcher already")
        try require(
            waiting.count(where: { $0.uid == uid }) < Self.mostAwaitingVouch, .overloaded,
            "\(Self.mostAwaitingVouch) hellos of \(row.name) from user \(uid) wait for the launcher already: start it "
                + "with strata start \(row.name)")
        move(peer, .vouchAwaited)
        // After the move, which would clear the row again.
        peer.waits(for: row, helloID: id)
        // This hello is handled again later, and counted then.
        statistics.calls -= 1
        turn.putBack()
        return false
    }
}
