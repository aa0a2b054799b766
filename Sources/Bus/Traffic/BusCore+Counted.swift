import StrataCore

/// The places where requests and notices are counted for `bus/traffic`. A request is counted once:
/// when it goes to its receiver or begins to wait for it, or when it is refused.
extension BusCore {
    /// Plans a turn for a change, unless one is planned.
    @inline(__always)
    private func counted(_ edges: UnsafeMutablePointer<EdgeTable>) {
        if !edges.pointee.isPlanned { planTraffic() }
    }

    @inline(__always)
    private func sender(_ peer: Peer, _ edges: UnsafeMutablePointer<EdgeTable>) -> UInt32 {
        edges.pointee.number(of: &peer.textSlot, peer.from, isSender: true)
    }

    @inline(__always)
    private func receiver(_ peer: Peer, _ edges: UnsafeMutablePointer<EdgeTable>) -> UInt32 {
        edges.pointee.number(of: &peer.textSlot, peer.from)
    }

    // MARK: Requests

    /// Counts a call if it takes no more than to find the edge that its receiver was counted for last.
    /// - Returns: false if there is more to do.
    @inline(__always)
    func countsQuickly(_ call: CallPointer, _ request: Request, to callee: Peer) -> Bool {
        guard let edges = traffic.edges, edges.pointee.isPlanned, monitors.isEmpty,
            callee.recentEdge.epoch == edges.pointee.epoch, callee.recentEdge.name == call.pointee.action,
            // Unwrapped, because a request that goes to a peer has a caller.
            callee.recentEdge.from == call.pointee.caller!._withUnsafeGuaranteedRef({ $0.number }),
            request.url.isEmpty, request.name.isEmpty, call.pointee.edge.place(in: edges.pointee.number) == nil
        else { return false }
        let place = Int(callee.recentEdge.place)
        call.pointee.edge = EdgeReference(place, of: edges.pointee.number)
        edges.pointee.open(at: place)
        return true
    }

    /// Counts a request that goes to its receiver.
    func countSent(_ call: CallPointer, _ request: Request, to callee: Peer) {
        countUnsent(call, request, to: callee)
        guard let edges = traffic.edges, request.interface != nil, request.url.isEmpty,
            call.pointee.action != ActionNames.none, let caller = call.pointee.caller?.takeUnretainedValue(),
            let place = call.pointee.edge.place(in: edges.pointee.number)
        else { return }
        callee.recentEdge = RecentEdge(
            epoch: edges.pointee.epoch, name: call.pointee.action, from: caller.number, place: UInt32(place))
    }

    /// Forgets which numbers of actions belong to which edges, because these numbers are given away
    /// again.
    func forgetCountedActions() { traffic.forgetRecent() }

    /// Counts a request as if it went to its receiver, which it may not.
    @inline(never)
    func countUnsent(_ call: CallPointer, _ request: Request, to callee: Peer) {
        guard let edges = traffic.edges, call.pointee.edge.place(in: edges.pointee.number) == nil,
            let caller = call.pointee.caller?.takeUnretainedValue()
        else { return }
        let to = receiver(callee, edges)
        open(
            call, EdgeTable.Key(sender(caller, edges), to, Self.kind(of: request), name(of: request, edges)), edges)
    }

    /// Counts an open of this app's.
    func countOpen(_ call: CallPointer, _ target: URLTarget, to callee: Peer) {
        guard let edges = traffic.edges, let caller = call.pointee.caller?.takeUnretainedValue() else { return }
        let to = receiver(callee, edges)
        open(call, EdgeTable.Key(sender(caller, edges), to, .open, number(of: target, edges)), edges)
    }

    /// Counts a request that begins to wait for its module, or for the authorizer.
    @inline(never)
    func countHeld(_ call: CallPointer, _ held: HeldRequest, from peer: Peer) {
        guard let edges = traffic.edges, call.pointee.edge.place(in: edges.pointee.number) == nil else { return }
        held.withRequest { request in
            let kind = Self.kind(of: request)
            // An open of another app's URL is counted when that app has it.
            guard request.interface != nil || kind == .report else { return }
            let to =
                request.interface?.owner.nameBytes.withUnsafeBytes { edges.pointee.number(of: $0) }
                ?? edges.pointee.number(of: request.to)
            open(call, EdgeTable.Key(sender(peer, edges), to, kind, name(of: request, edges)), edges)
        }
    }

    /// Counts one of the bus's own calls.
    func countOwn(_ call: CallPointer, _ to: Header.Text, to callee: Peer) {
        guard let edges = traffic.edges else { return }
        let from = edges.pointee.number(of: MonitoredFrame.bus, isSender: true)
        let name = edges.pointee.number(of: to.interfaceName)
        open(call, EdgeTable.Key(from, receiver(callee, edges), .call, name), edges)
    }

    /// Counts a call that the bus itself serves.
    /// - Parameter opened: the call, if it is answered later.
    @inline(never)
    func countServed(_ header: borrowing Header, of peer: Peer, _ action: String, _ opened: CallPointer? = nil) {
        // A monitor or a stream, this one too, waits for nothing.
        guard let edges = traffic.edges, !edges.pointee.isServedCounted, action != "traffic", action != "monitor" else {
            return
        }
        edges.pointee.isServedCounted = true
        let from = sender(peer, edges)
        let bus = edges.pointee.number(of: MonitoredFrame.bus)
        let key = EdgeTable.Key(from, bus, .call, bus)
        if let opened { return open(opened, key, edges) }
        edges.pointee.count(at: edges.pointee.place(key))
        counted(edges)
    }

    func countReport(_ call: CallPointer, _ request: Request, from peer: Peer, to observer: Peer) {
        guard let edges = traffic.edges, call.pointee.edge.place(in: edges.pointee.number) == nil else { return }
        let (from, to) = (sender(peer, edges), receiver(observer, edges))
        open(call, EdgeTable.Key(from, to, .report, edges.pointee.number(of: request.name)), edges)
    }

    @inline(__always)
    private func open(_ call: CallPointer, _ key: EdgeTable.Key, _ edges: UnsafeMutablePointer<EdgeTable>) {
        let place = edges.pointee.place(key)
        call.pointee.edge = EdgeReference(place, of: edges.pointee.number)
        edges.pointee.open(at: place)
        counted(edges)
    }

    /// Counts the end of a request.
    @inline(never)
    func countEnd(_ call: CallPointer, isError: Bool) {
        guard let edges = traffic.edges, let place = call.pointee.edge.place(in: edges.pointee.number) else { return }
        edges.pointee.end(at: place, isError: isError)
        counted(edges)
    }

    // MARK: Notices

    /// Notes whose broadcast is being delivered.
    func countsBroadcast(from peer: Peer) {
        guard let edges = traffic.edges else { return }
        edges.pointee.broadcast = .init(from: peer.from.baseAddress, fromNumber: sender(peer, edges))
    }

    func countsBroadcast(from name: Header.Text) {
        guard let edges = traffic.edges else { return }
        let number = edges.pointee.number(of: name, isSender: true)
        edges.pointee.broadcast = .init(from: name.baseAddress, fromNumber: number)
    }

    /// Notes that a broadcast is delivered: its names may be freed now.
    func countedBroadcast() { traffic.edges?.pointee.broadcast = .init() }

    /// Counts a notice if it takes no more than to find the edge that its receiver was counted for last.
    /// - Returns: false if there is more to do.
    @inline(__always)
    func countsQuickly(_ notice: Notice, to peer: Peer) -> Bool {
        guard let edges = traffic.edges, edges.pointee.isPlanned, monitors.isEmpty,
            edges.pointee.broadcast.from == notice.from.baseAddress,
            edges.pointee.broadcast.name == notice.name.baseAddress,
            peer.recentEdge.epoch == edges.pointee.epoch,
            peer.recentEdge.name == EdgeTable.noticeMark | edges.pointee.broadcast.nameNumber,
            peer.recentEdge.from == UInt64(edges.pointee.broadcast.fromNumber)
        else { return false }
        edges.pointee.count(at: Int(peer.recentEdge.place))
        return true
    }

    /// Counts a notice of a broadcast.
    func countNotice(_ notice: Notice, to peer: Peer) {
        guard let edges = traffic.edges else { return }
        let broadcast = edges.pointee.broadcast
        let isCurrent = broadcast.from == notice.from.baseAddress && broadcast.name == notice.name.baseAddress
        let (from, name) =
            isCurrent ? (broadcast.fromNumber, broadcast.nameNumber) : names(of: notice, edges)
        let place = edges.pointee.place(EdgeTable.Key(from, receiver(peer, edges), .broadcast, name))
        edges.pointee.count(at: place)
        counted(edges)
        guard from != EdgeTable.unknown, name != EdgeTable.unknown else { return }
        peer.recentEdge = RecentEdge(
            epoch: edges.pointee.epoch, name: EdgeTable.noticeMark | name, from: UInt64(from), place: UInt32(place))
    }

    /// Returns the numbers of a notice's sender and name, found by their bytes. A broadcast's first notice
    /// needs this. So does the notice of an observer's end, which may come in the middle of a broadcast.
    @inline(never)
    private func names(of notice: Notice, _ edges: UnsafeMutablePointer<EdgeTable>) -> (UInt32, UInt32) {
        let name = edges.pointee.number(of: notice.name)
        guard edges.pointee.broadcast.from == notice.from.baseAddress, notice.from.baseAddress != nil else {
            return (edges.pointee.number(of: notice.from, isSender: true), name)
        }
        if name != EdgeTable.unknown {
            edges.pointee.broadcast.name = notice.name.baseAddress
            edges.pointee.broadcast.nameNumber = name
        }
        return (edges.pointee.broadcast.fromNumber, name)
    }

    // MARK: Refusals

    /// Counts a request that was refused before it was open.
    @inline(never)
    func countRefused(_ header: borrowing Header, of peer: Peer) {
        guard let edges = traffic.edges else { return }
        let from = sender(peer, edges)
        var to = EdgeTable.empty
        var name = EdgeTable.empty
        let kind: EdgeTable.Kind
        func number(_ owner: ModuleRecord) -> UInt32 {
            owner.nameBytes.withUnsafeBytes { edges.pointee.number(of: $0) }
        }
        switch header.kind {
        case .call:
            kind = .call
            let interface = header.to.interfaceName
            name = edges.pointee.number(of: interface)
            if let owner = routes.interface(interface)?.owner {
                to = number(owner)
            } else if interface.equals("bus") || interface.equals("launcher") {
                to = name
            }
        case .open:
            kind = .open
            if let target = target(of: header.url) {
                to = number(target.owner)
                name = self.number(of: target, edges)
            }
        case .report:
            kind = .report
            name = edges.pointee.number(of: header.name)
            if let target = modules.find(header.to) { to = number(target) }
        case .broadcast:
            kind = .broadcast
            name = edges.pointee.number(of: header.name)
        case .unknown, .reply, .error, .cancel, .credit, .notice: return
        }
        edges.pointee.refuse(at: edges.pointee.place(EdgeTable.Key(from, to, kind, name)))
        counted(edges)
    }

    // MARK: Names

    private static func kind(of request: Request) -> EdgeTable.Kind {
        request.url.isEmpty ? request.name.isEmpty ? .call : .report : .open
    }

    /// Returns the number of what an edge is named for, from a request's bytes.
    private func name(of request: Request, _ edges: UnsafeMutablePointer<EdgeTable>) -> UInt32 {
        switch Self.kind(of: request) {
        case .report: return edges.pointee.number(of: request.name)
        case .open where request.interface == nil: return edges.pointee.number(of: Self.host(of: request.url))
        case .open: return target(of: request.url).map { number(of: $0, edges) } ?? EdgeTable.empty
        case .call, .broadcast, .others:
            return edges.pointee.number(of: request.to.interfaceName)
        }
    }

    private func target(of url: Header.Text) -> URLTarget? {
        try? routes.urls.resolve(url, schemes: table.schemes).value
    }

    private func number(of target: URLTarget, _ edges: UnsafeMutablePointer<EdgeTable>) -> UInt32 {
        if target.textSlot.table == edges.pointee.number { return target.textSlot.number }
        return Array("\(target.host)\(target.pattern.text)".utf8).withUnsafeBytes {
            edges.pointee.number(of: &target.textSlot, $0)
        }
    }

    /// Returns the host of a URL of another app, whose patterns aren't known here.
    private static func host(of url: Header.Text) -> Header.Text {
        guard let colon = url.firstIndex(of: UInt8(ascii: ":")) else { return .none }
        let rest = url[(colon + 1)...].drop { $0 == UInt8(ascii: "/") }
        return Header.Text(rebasing: rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") })
    }
}
