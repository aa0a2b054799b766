import StrataCore

/// A copy of what a request carries, kept while it waits inside the bus.
final class HeldRequest {
    let copy: Copy
    let interface: InterfaceRecord?

    init(_ copy: Copy, _ interface: InterfaceRecord?) {
        self.copy = copy
        self.interface = interface
    }

    /// The bytes of the request.
    struct Copy: StatePart {
        /// `Interface/action`, as the owner sees it.
        var to: [UInt8] = []
        var action: [UInt8] = []
        var url: [UInt8] = []
        /// The name that a report carries.
        var name: [UInt8] = []
        var object: [UInt8]?
        var trace: [UInt8] = []
        var meta: [UInt8] = []
        var body: [UInt8] = []
        var skipsAuthorization = false
        /// The key that chooses the replica; empty for none.
        var key: [UInt8] = []
        /// Its descriptors.
        var descriptors: FrameDescriptors?
        /// Their numbers, in a state.
        private(set) var descriptorNumbers: [Int32] = []
        /// The length of the body that the only one holds, in a state; 0 for other descriptors.
        private(set) var bodyCount = 0
        /// The number of the replica that the sender named; 0 for none.
        var replica = 0
        /// The number that another node's `create` gives to its instance; 0 for one of this node.
        var foreignInstance: UInt64 = 0

        init() {}

        init(_ request: Request, key: Header.Text = .none) {
            self.key = Array(key)
            to = Array(request.to)
            action = Array(request.action)
            url = Array(request.url)
            name = Array(request.name)
            object = request.object.map { Array($0) }
            trace = Array(request.trace)
            meta = Array(request.meta)
            skipsAuthorization = request.skipsAuthorization
            descriptors = request.descriptors?.takeUnretainedValue()
            // A body in a file stays there.
            if file == nil { body = Array(request.body) }
        }

        /// The file that holds the body; nil if it is in `body`.
        var file: FrameDescriptors? { descriptors.flatMap { $0.bodyCount > 0 ? $0 : nil } }

        /// Passes the body to `use`, wherever it is.
        func withBody<Result>(_ use: (UnsafeRawBufferPointer) -> Result) -> Result {
            // A request to another node was mapped before it was kept. For others only monitors need the
            // bytes, and receivers that take no files, which `DescribedFrame` maps for or refuses.
            if let file { use((try? file.mappedBody().bytes) ?? .none) } else { body.withUnsafeBytes(use) }
        }

        mutating func fields(_ file: inout StateFile) throws(StateError) {
            try file(1, &to)
            try file(2, &action)
            try file(3, &url)
            try file(4, &name)
            try file(5, &object)
            try file(6, &trace)
            try file(7, &meta)
            var waiting = WaitingBytes.array(body)
            try file(8, &waiting)
            body = waiting.array
            try file(9, &skipsAuthorization)
            try file(10, &foreignInstance)
            try file(11, &key)
            try file(12, &replica)
            if !file.isReading {
                descriptorNumbers = descriptors?.numbers ?? []
                bodyCount = descriptors?.bodyCount ?? 0
            }
            try file(13, &descriptorNumbers)
            try file(14, &bodyCount)
        }
    }

    /// The bytes that count against the sender's limit.
    var cost: Int {
        let texts = copy.trace.count + copy.meta.count + copy.url.count + copy.name.count + (copy.object?.count ?? 0)
        return copy.body.count + copy.key.count + texts + 128
    }

    /// Passes the request in its original form to `use`.
    func withRequest<Result>(_ use: (Request) -> Result) -> Result {
        copy.to.withUnsafeBytes { to in
            copy.action.withUnsafeBytes { action in
                copy.url.withUnsafeBytes { url in
                    copy.name.withUnsafeBytes { name in
                        (copy.object ?? []).withUnsafeBytes { object in
                            copy.trace.withUnsafeBytes { trace in
                                copy.meta.withUnsafeBytes { meta in
                                    copy.withBody { body in
                                        use(
                                            Request(
                                                to: to, interface: interface, action: action, url: url,
                                                name: name, object: copy.object == nil ? nil : object,
                                                trace: trace, meta: meta, body: body,
                                                skipsAuthorization: copy.skipsAuthorization,
                                                descriptors: copy.descriptors.map { .passUnretained($0) }))
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The contents of a request on its way to its callee. It doesn't own the bytes.
struct Request {
    typealias Bytes = UnsafeRawBufferPointer

    var to = Bytes.none
    /// Unretained, because what is found in a round of the loop lives until the round's end.
    unowned(unsafe) var interface: InterfaceRecord?
    var action = Bytes.none
    var url = Bytes.none
    var name = Bytes.none
    var object: Bytes?
    var trace = Bytes.none
    var meta = Bytes.none
    var body = Bytes.none
    /// Whether a trusted module said `auth: skip`.
    var skipsAuthorization = false
    /// Unretained, because the turn or the held request has them.
    var descriptors: Unmanaged<FrameDescriptors>?

    /// The most bytes that its texts may take in a header.
    var room: Int {
        128 + HeaderWriter.room(to) + HeaderWriter.room(url) + HeaderWriter.room(name)
            + HeaderWriter.room(object ?? .none) + trace.count + meta.count
    }

    var kind: MessageKind { interface == nil ? .report : url.isEmpty ? .call : .open }
}

/// Requests whose module isn't ready: they wait, within limits, until it is.
extension BusCore {
    /// Opens a request and keeps it until its module is ready.
    func hold(
        _ request: Request, _ header: borrowing Header, for owner: ModuleRecord, from peer: Peer
    ) throws(BusError) -> CallPointer {
        if isElsewhere(owner) { return try sendAway(request, header, to: owner, from: peer) }
        var facts = facts(of: request, owner, from: peer)
        facts.startStep = startStep(header, of: peer)
        try facts.check(.node ... .start)
        return try hold(request, as: facts.kind == .report ? .report : .call, header, for: owner, from: peer)
    }

    /// Opens a request that was judged, and keeps it until its module is ready, or its module's node
    /// joins.
    func hold(
        _ request: Request, as kind: RequestLife.Kind, _ header: borrowing Header, for owner: ModuleRecord,
        from peer: Peer
    ) throws(BusError) -> CallPointer {
        if owner.waiting.count >= table.limits.waiting { throw tooManyWait(for: owner) }
        let held = HeldRequest(HeldRequest.Copy(request, key: header.key), request.interface)
        try checkRoom(for: held, of: peer)
        let call = try openRequest(kind, header, from: peer)
        keep(held, for: call, of: peer)
        wait(call, for: owner)
        return call
    }

    /// Keeps one of the bus's own tasks for a request until a module is ready.
    func wait(_ waiter: ReadyWaiter, for module: ModuleRecord) throws(BusError) {
        guard module.canTakeWaiter(table.limits.waiting) else { throw tooManyWait(for: module) }
        module.whenReady(waiter)
        want(module)
    }

    private func tooManyWait(for module: ModuleRecord) -> BusError {
        BusError(
            .overloaded,
            "\(table.limits.waiting) requests wait for \(module.name) already (limits.waiting): try later")
    }

    /// Adds an open request, whose copy is already kept, to the requests that wait for a module.
    func wait(_ call: CallPointer, for owner: ModuleRecord) {
        call.pointee.life.take(.held)
        call.pointee.waitsFor = .passUnretained(owner)
        owner.addWaiting(call)
        want(owner)
    }

    /// Keeps a request's copy while it waits.
    func keep(_ held: HeldRequest, for call: CallPointer, of peer: Peer) {
        call.pointee.held = .passRetained(held)
        peer.countHeld(held.cost)
        calls.keeps(held.cost)
        if monitors.isOn { countHeld(call, held, from: peer) }
    }

    /// Sends a request that waits for a module on to a session.
    /// - Parameter place: the request's index in `waiting`.
    func release(_ place: Int, of module: ModuleRecord, to callee: Peer) {
        let call = module.takeWaiting(at: place)
        guard let caller = call.pointee.caller?.takeUnretainedValue() else { return }
        let held = unhold(call)
        held.withRequest { request in
            if call.pointee.kind == .report {
                deliverReport(call, request, from: caller, to: callee)
            } else {
                // With the key, because it may wait for the authorizer yet, and a replica is chosen after that.
                held.copy.key.withUnsafeBytes { goOn(call, request, Header(key: $0), from: caller, to: callee) }
            }
        }
    }

    /// Checks a request's action now that its owner is ready, and sends the request on.
    /// - Parameter header: the request's header; one with its key alone if it has waited.
    func goOn(
        _ call: CallPointer, _ request: Request, _ header: borrowing Header = Header(), from caller: Peer,
        to callee: Peer
    ) {
        guard let interface = request.interface.map(present) else { return deliver(call, request, to: callee) }
        var request = request
        request.interface = interface
        if call.pointee.isAuthorized { request.skipsAuthorization = true }
        do throws(BusError) {
            try facts(of: request, interface.owner, from: caller).check(.node ... .instance)
            try checkDescriptors(request.descriptors?.takeUnretainedValue(), for: interface, request.action)
            if request.kind == .call {
                call.pointee.mostDescriptors = interface.action(request.action)?.descriptors.reply ?? 0
            }
            authorize(call, request, interface, header, from: caller, to: callee)
        } catch {
            countUnsent(call, request, to: callee)
            fail(call, error)
        }
    }

    /// Returns the current record of an interface. A session that ended may have removed the record
    /// that a request waited with, and the next session registered it again.
    func present(_ interface: InterfaceRecord) -> InterfaceRecord {
        guard !interface.isLive, let now = routes.interface(interface.name), now.owner === interface.owner else {
            return interface
        }
        return now
    }
}
