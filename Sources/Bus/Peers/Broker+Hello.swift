import StrataCore

/// hello: who a peer is, and what it brings. The first refusal that applies,
/// in the order of the protocol's section 5, ends the connection.
extension Broker {
    func greet(_ header: borrowing Header, _ body: UnsafeRawBufferPointer, of peer: Peer) {
        guard header.kind == .call, isHello(header.to) else {
            end(
                peer,
                BusError(
                    .notRegistered,
                    "the first frame was a \(header.kind == .unknown ? header.unknownKind.text : "\(header.kind.name)"), "
                        + "and a connection begins with a call to bus/hello"))
            return
        }
        guard header.id != 0 else {
            end(peer, BusError(.badID, "hello came without a usable id: number it from 1 to 2^53-1"))
            return
        }
        statistics.calls += 1
        do {
            let hello = try Hello(body)
            guard stage == .running else {
                throw BusError(.shuttingDown, "the app is ending: connect again when it is back")
            }
            try judge(hello, header.id, of: peer)
        } catch let error as BusError {
            end(peer, error, id: header.id)
        } catch {
            preconditionFailure("hello fails with BusError, not with \(error)")
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
            register(peer, as: .operator, from: "operator")
            answerHello(peer, id, module: nil, subscriptions: [])
        case .launcher:
            try admitLauncher(peer)
            register(peer, as: .launcher, from: "launcher")
            launcher = peer
            launcherPID = peer.credentials.pid
            answerHello(peer, id, module: nil, subscriptions: [])
            launcherArrived()
        case .module(let name):
            try judgeModule(hello, name, id, of: peer)
        }
    }

    private func admitOperator(_ peer: Peer) throws(BusError) {
        let uid = peer.credentials.uid
        guard isOperator(uid) else {
            throw BusError(
                .forbidden,
                "user \(uid) is no operator: the broker's user (\(user)), root and those of the manifest's operators are"
            )
        }
        try refuseDescendant(peer, "an operator")
    }

    func isOperator(_ uid: UInt32) -> Bool { uid == user || uid == 0 || table.operators.contains(uid) }

    private func admitLauncher(_ peer: Peer) throws(BusError) {
        let uid = peer.credentials.uid
        guard uid == user || uid == 0 else {
            throw BusError(.forbidden, "user \(uid) can't be the launcher: the broker's user (\(user)) or root can")
        }
        try refuseDescendant(peer, "a launcher")
        guard launcher == nil else {
            throw BusError(.nameTaken, "a launcher is connected already (pid \(launcherPID)): there is one at a time")
        }
    }

    /// A process below the launcher is the module that was vouched for, and
    /// nobody else.
    private func refuseDescendant(_ peer: Peer, _ role: String) throws(BusError) {
        guard launcher != nil, Ancestors.descends(peer.credentials.pid, from: launcherPID) else { return }
        throw BusError(
            .forbidden,
            "process \(peer.credentials.pid) was started by the app's launcher, so it can't be \(role): run it from "
                + "outside the app")
    }

    // MARK: modules

    private func judgeModule(_ hello: Hello, _ name: String, _ id: UInt64, of peer: Peer) throws(BusError) {
        let row = modules.find(name).flatMap { $0.row == nil ? nil : $0 }
        if let row, row.isRemoved {
            throw BusError(
                .unknownModule,
                "the row of \(name) was taken out of the manifest, and its process is ending: it ends too")
        }
        let offered = Dictionary(uniqueKeysWithValues: hello.offer.interfaces.map { ($0.name, $0) })
        try checkURLs(hello, offered, row)
        if let row {
            for provided in row.row!.provides where offered[provided] == nil {
                // because a record found among the rows has one
                throw BusError(
                    .badParams, "hello of \(name) lacks the interface \(provided), which its row provides: bring it")
            }
        }
        try checkQuotas(hello, row)
        guard row != nil || table.guests != nil else {
            let near = nearestNames(to: name, in: modules.rows.map(\.name))
            let hint =
                near.isEmpty
                ? "add one to the manifest, or allow guests" : "did you mean \(near.joined(separator: " or "))?"
            throw BusError(.unknownModule, "no row of the manifest is named \(name): \(hint)")
        }
        if let guests = table.guests, row == nil, modules.guests.count >= guests.most {
            throw BusError(.overloaded, "\(guests.most) guests are connected (guests.most): close one first")
        }
        guard takeCommonSeat(peer) else {
            throw BusError(
                .overloaded,
                "the last \(Self.keptConnections) of \(table.limits.connections) connections (limits.connections) are "
                    + "kept for operators and the launcher")
        }
        let rank = row?.rank ?? table.guests!.rank  // because a guest is allowed here
        if let level = hello.level, level != levels.names[rank] {
            throw BusError(
                .levelMismatch,
                "\(name) said level \(level), and its row says \(levels.names[rank]): the manifest decides")
        }
        if try admitModule(hello, row, id, of: peer) { try admitted(hello, row, rank, id, of: peer) }
    }

    /// What passed every check up to `forbidden`.
    private func admitted(_ hello: Hello, _ row: ModuleRecord?, _ rank: Int, _ id: UInt64, of joining: Peer)
        throws(BusError)
    {
        guard case .module(let name) = hello.role else {
            preconditionFailure("only modules are admitted here, not \(hello.role)")
        }
        try checkOwners(hello.offer, name)
        if let live = modules.find(name), let peer = live.peer, maySucceed(hello, live, peer) {
            try checkFree(hello.offer, of: live)
            joinBeside(joining, live, hello, id)
            return
        }
        if let live = modules.find(name), live.peer != nil {
            throw BusError(.nameTaken, "\(name) is connected already (pid \(live.pid)): a name is one process's")
        }
        try checkFree(hello.offer, of: nil)
        let module = row ?? modules.addGuest(name, rank: rank)
        join(joining, module, hello, id)
    }

    /// Goes on with a hello whose token has been vouched for.
    func goOn(_ hello: Hello, of peer: Peer) {
        guard case .module(let name) = hello.role, let row = modules.find(name) else {
            preconditionFailure("only a row's hello waits, not \(hello.role)")
        }
        move(peer, to: .greeting)
        peer.hello = nil
        do {
            if try admitModule(hello, row, peer.helloID, of: peer) {
                try admitted(hello, row, row.rank, peer.helloID, of: peer)
                resume(peer)
            }
        } catch {
            end(peer, error, id: peer.helloID)
        }
    }

    /// Whether a peer may be the module that it says it is.
    /// - Returns: false where it waits for a vouch.
    private func admitModule(_ hello: Hello, _ row: ModuleRecord?, _ id: UInt64, of peer: Peer) throws(BusError) -> Bool
    {
        guard let row else {
            try refuseDescendant(peer, "a guest")
            return true
        }
        let pid = peer.credentials.pid
        guard let token = hello.token else {
            guard row.start == .manual else {
                throw BusError(
                    .forbidden,
                    "\(row.name) is started by the launcher and came without its token: start it with strata start "
                        + "\(row.name), or give its row start: manual")
            }
            guard peer.credentials.uid == user else {
                throw BusError(
                    .forbidden,
                    "user \(peer.credentials.uid) can't start \(row.name) by hand: the broker's user (\(user)) can")
            }
            try refuseDescendant(peer, "a module started by hand")
            return true
        }
        if let vouch = row.vouch, Ancestors.isAlive(vouch.pid) {
            let isVouched = pid == vouch.pid || Ancestors.descends(pid, from: vouch.pid)
            if isVouched && token == vouch.token { return true }
            guard isVouched || row.row?.replace != .overlap else { return try waitForVouch(hello, row, id, of: peer) }
            throw BusError(
                .forbidden,
                isVouched
                    ? "the token of \(row.name) is not the one that the launcher gave to process \(vouch.pid)"
                    : "process \(pid) said it is \(row.name), and the launcher vouched for process \(vouch.pid)")
        }
        return try waitForVouch(hello, row, id, of: peer)
    }

    /// - Returns: false.
    private func waitForVouch(_ hello: Hello, _ row: ModuleRecord, _ id: UInt64, of peer: Peer) throws(BusError) -> Bool
    {
        let pid = peer.credentials.pid
        let waits = peers.values.contains {
            $0.phase == .waitingForVouch && $0.hello?.role == hello.role && $0.credentials.pid == pid
        }
        guard !waits else {
            throw BusError(.nameTaken, "a hello of \(row.name) from process \(pid) waits for the launcher already")
        }
        move(peer, to: .waitingForVouch)
        peer.hello = hello
        peer.helloID = id
        pause(peer)
        return false
    }

    private func checkQuotas(_ hello: Hello, _ row: ModuleRecord?) throws(BusError) {
        let limits = table.limits
        var (urls, observed) = (hello.offer.urls.count, hello.observes.count)
        // What the row names too is one; it is compared where hello's alone fits.
        if let row, let own = row.row, urls <= limits.urls, observed <= limits.observations {
            urls += own.urls.count
            for url in hello.offer.urls {
                let mapped = routes.urls.value(of: url.pattern, host: url.host)
                if mapped?.isDeclared == true, mapped?.owner === row { urls -= 1 }
            }
            observed += own.observes.count { mapped in
                !hello.observes.contains { $0.name == mapped.name && $0.object == mapped.object }
            }
        }
        let quotas = [
            ("interfaces", hello.offer.interfaces.count, limits.interfaces), ("URLs", urls, limits.urls),
            ("observations", observed, limits.observations),
        ]
        for (what, count, limit) in quotas where count > limit {
            throw BusError(
                .overloaded,
                "hello brings \(count) \(what), and one module may have \(limit) (limits.\(what.lowercased()))")
        }
    }

    /// A URL leads to an interface of the same module, which has one instance.
    func checkTargets(of urls: [Hello.URL], among interfaces: [Hello.Interface]) throws(BusError) {
        let instances = Dictionary(uniqueKeysWithValues: interfaces.map { ($0.name, $0.instances) })
        for url in urls {
            guard let found = instances[url.interface] else {
                throw BusError(
                    .badParams,
                    "the URL \(url.host)\(url.path) leads to \(url.interface), which is no interface of this module")
            }
            guard found == .single else {
                throw BusError(
                    .badParams,
                    "the URL \(url.host)\(url.path) leads to \(url.interface), which has instances: multiple")
            }
        }
    }

    /// The same for what hello brings and for what the row maps.
    private func checkURLs(_ hello: Hello, _ offered: [String: Hello.Interface], _ row: ModuleRecord?) throws(BusError)
    {
        try checkTargets(of: hello.offer.urls, among: hello.offer.interfaces)
        for mapping in row?.row?.urls ?? [] {
            let name = Destination(mapping.to).map {
                String(decoding: Array(mapping.to.utf8)[$0.interface], as: UTF8.self)
            }
            if let interface = name.flatMap({ offered[$0] }), interface.instances != .single {
                throw BusError(
                    .badParams,
                    "the row's URL \(mapping.host)\(mapping.path) leads to \(interface.name), which has instances: multiple"
                )
            }
        }
    }

    /// What a row provides or maps is that module's alone.
    func checkOwners(_ offer: Hello.Offer, _ name: String) throws(BusError) {
        for interface in offer.interfaces {
            if let owned = routes.interface(interface.name), owned.isDeclared, owned.owner.name != name {
                throw BusError(
                    .forbidden,
                    "the interface \(interface.name) is \(owned.owner.name)'s, by its row: \(name) can't have it")
            }
        }
        for url in offer.urls {
            if let owned = routes.urls.value(of: url.pattern, host: url.host), owned.isDeclared,
                owned.owner.name != name
            {
                throw BusError(
                    .forbidden,
                    "the URL \(url.host)\(url.path) is \(owned.owner.name)'s, by its row: \(name) can't have it")
            }
        }
    }

    /// What is live elsewhere is taken, and so is what a process brings that is
    /// to take over elsewhere. `module` may have its own again.
    func checkFree(_ offer: Hello.Offer, of module: ModuleRecord?) throws(BusError) {
        for other in modules.rows where other !== module {
            guard let coming = other.successor?.offer else { continue }
            for interface in offer.interfaces where coming.interfaces.contains(where: { $0.name == interface.name }) {
                throw BusError(
                    .nameTaken,
                    "the interface \(interface.name) comes with the process that takes over as \(other.name): choose "
                        + "another name")
            }
            for url in offer.urls where coming.urls.contains(where: { $0.isSame(as: url) }) {
                throw BusError(
                    .nameTaken,
                    "the URL \(url.host)\(url.path) comes with the process that takes over as \(other.name): choose "
                        + "another path")
            }
        }
        for interface in offer.interfaces {
            if let taken = routes.interface(interface.name), taken.isLive, taken.owner !== module {
                throw BusError(
                    .nameTaken, "the interface \(interface.name) is live at \(taken.owner.name): choose another name")
            }
        }
        for url in offer.urls {
            if let taken = routes.urls.value(of: url.pattern, host: url.host), taken.owner !== module,
                taken.owner.peer != nil
            {
                throw BusError(
                    .nameTaken, "the URL \(url.host)\(url.path) is \(taken.owner.name)'s: choose another path")
            }
        }
    }

    // MARK: joining

    func register(_ peer: Peer, as role: Peer.Role, from: String) {
        move(peer, to: .open)
        peer.role = role
        peer.setFrom(from)
        peer.timer?.close()
        peer.timer = nil
    }

    private func join(_ peer: Peer, _ module: ModuleRecord, _ hello: Hello, _ id: UInt64) {
        register(peer, as: .module, from: module.name)
        peer.module = module
        peer.rank = module.rank
        module.peer = peer
        module.pid = peer.credentials.pid
        module.uid = peer.credentials.uid
        module.isRetired = false
        module.isIdleStop = false
        module.diedForGood = false
        module.events = Set(hello.events)
        module.helloRequires = hello.requires
        module.sessions += 1
        if module.sessions > 1 { module.restarts += 1 }
        add(hello.offer, to: module)
        answerHello(peer, id, module: module, subscriptions: observe(hello.observes, module, peer))
        joined(module, resumed: hello.resumed)
    }

    /// Hello's observations, then the row's that are not among them.
    func observe(_ observed: [AppTable.Observed], _ module: ModuleRecord, _ peer: Peer) -> [UInt64] {
        for own in observed { addObservation(own, peer) }
        observeForRow(module, peer)
        return peer.observations.map(\.id)
    }

    /// What the module's row observes and the peer doesn't.
    func observeForRow(_ module: ModuleRecord, _ peer: Peer) {
        for own in module.row?.observes ?? [] {
            if !peer.observations.contains(where: { $0.isOf(own) }) { addObservation(own, peer, isOfRow: true) }
        }
    }

    @discardableResult
    func addObservation(_ observed: AppTable.Observed, _ peer: Peer, isOfRow: Bool = false) -> UInt64 {
        let observation = Observation(
            id: peer.nextSubscription, name: Array(observed.name.utf8), object: observed.object.map { Array($0.utf8) },
            keep: observed.keep, peer: peer, rank: peer.rank, isOfRow: isOfRow)
        peer.nextSubscription += 1
        peer.observations.append(observation)
        // A successor's are in force when it takes over.
        if peer.module?.peer === peer { observations.add(observation) }
        return observation.id
    }

    func answerHello(_ peer: Peer, _ id: UInt64, module: ModuleRecord?, subscriptions: [UInt64]) {
        let reply: JSON = .object([
            .init("app", .string(table.app)),
            .init("env", .string(table.env)),
            .init("module", module.map { .string($0.name) } ?? .null),
            .init("level", module == nil ? .null : .string(levels.names[peer.rank])),
            .init("rank", module == nil ? .null : .integer(Int64(peer.rank))),
            .init("levels", .array(levels.names.map { .string($0) })),
            .init("schemes", .array(table.schemes.map { .string($0) })),
            .init("settings", table.settings),
            .init("launchOptions", table.launchOptions),
            .init("subscriptions", .array(subscriptions.map { .integer(Int64($0)) })),
            .init("limits", table.limits.json()),
        ])
        writeReply(peer, id: id, reply)
    }
}
