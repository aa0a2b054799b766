import StrataCore

/// A hello that says `more`: the session says the rest of what it brings with
/// `bus/register`, and its start begins after the last part.
extension BusCore {
    /// A hello was taken.
    func beginOffering(_ peer: Peer, _ hello: Hello) {
        guard hello.more else { return }
        peer.setOffering(hello.resumed ? .resuming : .starting)
        setAlarm(.offering, of: peer, after: table.startup)
    }

    func offeringTimePassed(_ peer: Peer) {
        end(
            peer, .failed,
            "hello of \(peer.displayName) said \"more\", and no bus/register without it came within "
                + "\(table.startup) ms (startup): its start failed")
    }

    /// All is said, or it is too late to say more.
    func endOffering(_ peer: Peer) {
        guard peer.offering != .over else { return }
        peer.setOffering(.over)
        cancelAlarm(.offering, of: peer)
    }

    /// The start of a session that has said all that it brings.
    func beginStart(of module: ModuleRecord, _ peer: Peer, resumed: Bool) {
        guard stage == .running else { return }
        if let successor = module.successor, successor.peer === peer {
            if resumed { successor.take(.joined(resumed: true)) }
            advance(successor, module)
        } else if module.peer === peer, !module.isRetired {
            joined(module, resumed: resumed)
        }
    }

    /// What a row provides its module brings.
    func checkProvided(_ names: Set<String>, _ module: ModuleRecord) throws(BusError) {
        for provided in module.row?.provides ?? [] where !names.contains(provided) {
            throw BusError(
                .badParams, "hello of \(module.name) lacks the interface \(provided), which its row provides: bring it")
        }
    }
}
