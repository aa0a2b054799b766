import StrataCore

/// The bus's own interface, `bus`.
extension BusCore {
    /// A call of one of the bus's actions, while it is being handled. Its bytes are the frame's.
    struct BusCall {
        let action: String
        let header: UnsafePointer<Header>
        let body: UnsafeRawBufferPointer
        let peer: Peer
        /// The number of requests in the chain that ends with it.
        let depth: UInt32

        var id: UInt64 { header.pointee.id }
        /// The sender's module, for actions that only modules may call.
        var module: ModuleRecord {
            guard let module = peer.module else { preconditionFailure("bus/\(action) is for modules: \(peer.role)") }
            return module
        }

        /// Reads the members of the body.
        func params() throws(BusError) -> MemberReader { try MemberReader(body: body, of: "bus/\(action)") }
    }

    /// The peers that may call an action, as messages name them.
    private enum Asker: String {
        case everyPeer = "every peer"
        case anybody = "modules, operators and the launcher"
        case modules, operators
        case launcher = "the launcher"
        case link = "the link"
        case operatorsAndLauncher = "operators and the launcher"

        func includes(_ role: PeerRole) -> Bool {
            switch self {
            case .everyPeer: role != .link && role != .nodeLink
            case .anybody: role == .module || role == .operator || role == .launcher
            case .modules: role == .module
            case .operators: role == .operator
            case .launcher: role == .launcher
            case .link: role == .nodeLink
            case .operatorsAndLauncher: role == .operator || role == .launcher
            }
        }
    }

    /// How an action is answered.
    private enum Answer {
        case now(@Sendable (BusCore) -> (BusCall) throws(BusError) -> JSON)
        /// The function answers the call, or something that it begins does later.
        case later(@Sendable (BusCore) -> (BusCall) throws(BusError) -> Void)
        /// The answer grows with what modules bring, so it is made in parts.
        case inParts(@Sendable (BusCore) -> (BusCall) -> Listing.Part)
    }

    private static let actions: [(name: String, asker: Asker, answer: Answer)] = [
        ("hello", .everyPeer, .now(helloAgain)), ("register", .modules, .later(register)),
        ("unregister", .modules, .now(unregister)), ("observe", .modules, .later(observe)),
        ("unobserve", .modules, .now(unobserve)), ("create", .modules, .later(create)),
        ("release", .modules, .now(releaseInstance)), ("mark", .modules, .now(mark)),
        ("forget", .modules, .now(forgetRetained)),
        ("canOpen", .everyPeer, .later(canOpen)),
        ("emit", .anybody, .later(emit)), ("levels", .anybody, .inParts(levelsListing)),
        ("modules", .anybody, .inParts(modulesListing)), ("interfaces", .anybody, .inParts(interfacesListing)),
        ("names", .anybody, .inParts(namesListing)), ("stats", .anybody, .now(statsAnswer)),
        ("nodes", .anybody, .now(nodesAnswer)), ("nodeLost", .link, .now(nodeLost)),
        ("nodeState", .link, .now(nodeState)),
        ("timeline", .operators, .inParts(timelineListing)),
        ("requests", .operators, .inParts(requestsListing)), ("metrics", .operators, .later(askModule)),
        ("contracts", .operators, .later(askModule)), ("retained", .operators, .later(listRetained)),
        ("watch", .anybody, .later(watchModules)), ("monitor", .operators, .later(monitor)),
        ("traffic", .operators, .later(watchTraffic)),
        ("ping", .everyPeer, .now(pong)), ("vouch", .launcher, .now(vouch)), ("retire", .launcher, .later(retire)),
        ("moduleState", .launcher, .now(moduleState)), ("reload", .operatorsAndLauncher, .later(reload)),
        ("reloaded", .launcher, .now(reloaded)),
        ("handOver", .operatorsAndLauncher, .later(handOver)),
    ]

    func busCall(
        _ name: String, hasInstance: Bool, _ header: borrowing Header, _ body: UnsafeRawBufferPointer, from peer: Peer
    ) throws(BusError) {
        if monitors.isOn { monitorServed() }
        // An action may take long, so the turn's time is checked.
        turn.interrupt()
        let action = Self.actions.first { $0.name == name }
        // Another app doesn't learn what there is.
        if peer.role == .app || peer.role == .link {
            let isOpen = peer.role == .app && !hasInstance && action?.asker == .everyPeer
            try require(isOpen, .forbidden, "another app can't ask for bus/\(name)")
        }
        // The checks of any call, in the protocol's order.
        if let asker = action?.asker {
            try require(
                asker.includes(peer.role), .forbidden,
                "bus/\(name) is for \(asker.rawValue): \(peer.displayName) can't ask for it")
        }
        if header.members.contains(.auth) {
            try LiveFacts(core: self, kind: .call, peer: peer, skipsAuthorization: true).check(.trust ... .trust)
        }
        guard let action else {
            let names = Self.actions.map(\.name)
            let hint = didYouMean(name, names, else: "it has \(names.joined(separator: ", "))")
            throw BusError(.unknownAction, "bus has no action \(name): \(hint)")
        }
        if hasInstance { throw noInstances("bus") }
        var depth: UInt32 = 1
        if header.members.contains(.parent) { depth += try checkedParent(header, of: peer).pointee.depth }
        let result = withUnsafePointer(to: header) { header in
            Result { () throws(BusError) in
                let call = BusCall(action: name, header: header, body: body, peer: peer, depth: depth)
                switch action.answer {
                case .now(let answer): writeReply(peer, id: call.id, try answer(self)(call))
                case .later(let begin): try begin(self)(call)
                case .inParts(let parts): list(for: peer, id: call.id, parts(self)(call))
                }
            }
        }
        try result.get()
        if monitors.isOn { countServed(header, of: peer, name) }
    }

    /// Opens a call that is answered later.
    func open(_ call: BusCall) throws(BusError) -> CallPointer {
        let opened = try openRequest(.served, call.header.pointee, from: call.peer)
        opened.pointee.action = routes.actionNames.number(of: "bus/\(call.action)")
        if monitors.isOn { countServed(call.header.pointee, of: call.peer, call.action, opened) }
        return opened
    }

    /// Answers a call that `open` opened.
    /// - Parameters:
    ///   - ran: whether modules' handlers ran for it.
    ///   - reason: why the calls that were made for it end.
    func answer(_ call: CallPointer, _ body: [UInt8], ran: BusError.Ran = .no, _ reason: String) {
        if let caller = call.pointee.caller?.takeUnretainedValue() {
            writeFitting(caller, id: call.pointee.callerID, body, ran: ran)
        }
        if monitors.isOn { countEnd(call, isError: false) }
        release(call, reason)
    }

    func noInstances(_ interface: String) -> BusError {
        BusError(.unknownInstance, "\(interface) has no instances: call it without #")
    }

    private func helloAgain(_ call: BusCall) throws(BusError) -> JSON {
        throw BusError(.forbidden, "\(call.peer.displayName) has said hello already: a connection says hello once")
    }

    private func pong(_: BusCall) -> JSON { .object([]) }

    // MARK: observe

    private func observe(_ call: BusCall) throws(BusError) {
        let (module, peer, most) = (call.module, call.peer, table.limits.observations)
        try onlyStaying(peer, module)
        let observed = try Hello.observation(try BodyLimit.ordinary.read(call.body, of: "bus/observe"))
        try require(
            peer.observations.count < most, .overloaded,
            "\(module.name) has \(most) observations (limits.observations): unobserve some")
        try Texts.check(
            "\(module.name) would have", "observations", peer.observations.bytes + observed.cost, Texts.most(most))
        writeReply(peer, id: call.id, ["subscription": JSON(addObservation(observed, peer))])
        deliverRetained(to: peer)
    }

    private func unobserve(_ call: BusCall) throws(BusError) -> JSON {
        guard let number = try call.params().integer("subscription") else {
            throw BusError(.badParams, "bus/unobserve lacks \"subscription\", a number that observe gave")
        }
        guard let observation = call.peer.observations.all.first(where: { Int64($0.terms.id) == number }) else {
            throw BusError(.badParams, "\(call.peer.displayName) has no observation \(number): observe gave its number")
        }
        endObservation(observation)
        return .object([])
    }
}
