import StrataCore

/// Which process a peer is, as far as the kernel vouches for it: what decides who may be
/// whom.
extension BusCore {
    /// Whether a peer is a process, or descends from it, without any doubt.
    func isOf(_ peer: Peer, _ process: ProcessIdentity) -> Bool {
        switch host.descent(of: peer, from: process) {
        case .itself, .descends: true
        case .unrelated, .unknown, nil: false
        }
    }

    /// The process that says hello as the launcher.
    func identify(launcher peer: Peer) throws(BusError) -> ProcessIdentity {
        guard let process = host.process(of: peer) else {
            throw BusError(
                .forbidden, "\(isGone(peer)), so it can't be the launcher: let the process that connected say hello")
        }
        return process
    }

    /// A process below the launcher is the module that was vouched for, and nobody else.
    /// So is one of which nobody can tell any more where it came from.
    func refuseDescendant(_ peer: Peer, _ role: String) throws(BusError) {
        guard let launcher = seat.process, hasLauncher || host.isAlive(launcher) else { return }
        let why: String
        switch host.descent(of: peer, from: launcher) {
        case .itself, .unrelated: return
        case .descends:
            throw BusError(
                .forbidden,
                "process \(peer.credentials.pid) was started by the app's launcher, so it can't be \(role): run it "
                    + "from outside the app")
        case .unknown:
            why = "the parents of process \(peer.credentials.pid) changed while they were looked at"
        case nil: why = isGone(peer)
        }
        throw BusError(
            .forbidden,
            "\(why), so it may have been started by the app's launcher, and can't be \(role): let a process that "
                + "lives connect and say hello")
    }

    /// Says that the process that connected is none that the kernel still vouches for.
    func isGone(_ peer: Peer) -> String { "process \(peer.credentials.pid), which connected, has ended" }
}
