import StrataCore

/// Bodies on their way through an adapter.
extension Broker {
    /// The params under the provider's names; nil where the caller was refused.
    func adaptedParams(_ route: RouteTable.Route, _ id: UInt64, _ body: UnsafeRawBufferPointer, from peer: Peer)
        -> [UInt8]?
    {
        defer { lookAtTurn() }
        do throws(BusError) {
            return try AdapterTable.Adaptation.apply(
                route.adaptation?.params ?? [], to: body, limit: table.limits.adapted)
        } catch {
            refuse(peer, id, error)
            return nil
        }
    }

    /// A reply under the caller's names; where that can't be, the call ends.
    @inline(never)
    func forwardAdapted(
        _ call: CallPointer, _ adaptation: AdapterTable.Adaptation, _ header: borrowing Header,
        _ body: UnsafeRawBufferPointer, from peer: Peer, to caller: Peer
    ) {
        defer { lookAtTurn() }
        do throws(BusError) {
            let renamed = try AdapterTable.Adaptation.apply(
                adaptation.result, to: body, limit: table.limits.adapted)
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
