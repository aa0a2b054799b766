import StrataCore

/// Bodies on their way through an adapter.
extension BusCore {
    /// A body under other names. With it the frame that it came in must be one that the
    /// broker would take: what it sends on is little larger then.
    func renamed(_ steps: [MemberRenaming], _ header: borrowing Header, _ body: UnsafeRawBufferPointer)
        throws(BusError) -> [UInt8]
    {
        let renamed = try AdapterTable.Adaptation.apply(steps, to: body, limit: table.limits.adapted)
        try require(
            takesFrame(header, body: renamed.count), .tooLarge,
            "an adapter makes \(renamed.count) bytes of a body of \(body.count), which with its header is over "
                + "\(frameLimits.frame) (limits.frame): send less at once, or raise it")
        return renamed
    }

    /// Whether a frame may have a header as it came and so large a body.
    func takesFrame(_ header: borrowing Header, body count: Int) -> Bool {
        4 + header.count + count <= Int(frameLimits.frame)
    }

    /// A reply under the caller's names; where that can't be, the call ends.
    @inline(never)
    func forwardAdapted(
        _ call: CallPointer, _ adaptation: AdapterTable.Adaptation, _ header: borrowing Header,
        _ body: UnsafeRawBufferPointer, from peer: Peer, to caller: Peer
    ) {
        turn.interrupt()
        do throws(BusError) {
            let renamed = try renamed(adaptation.result, header, body)
            renamed.withUnsafeBytes { forwardReply(call, header, $0, from: peer, to: caller) }
        } catch {
            let failure = BusError(error.code, error.message, ran: .yes)
            if header.more { failAndCancel(call, failure) } else { fail(call, failure) }
        }
    }

    /// The names that adapters give a broadcast of a module's.
    func noticeAliases(_ header: borrowing Header, from peer: Peer) -> [[UInt8]] {
        var names: [[UInt8]] = []
        for alias in adapters.noticeAliases(header.name.text) {
            guard let provider = routes.interface(alias.provider), provider.owner === peer.module,
                routes.interface(alias.adapter) == nil
            else { continue }
            names.append(alias.name)
        }
        return names
    }
}
