import Glibc
import StrataCore
import StrataLoop
import StrataTesting

@testable import StrataBus

extension TestBus {
    /// Connects a module that sends seldom and little, so that other peers' turns become short
    /// from its next turn on.
    func lightModule(_ name: String) throws -> RawPeer {
        let peer = try module(name)
        for _ in 0..<10 { try peer.settle() }
        // A turn that follows the last one sooner than this gap is not light.
        let next = Loop.nanoseconds + 10 * TurnShares.lightGap
        while Loop.nanoseconds < next { sched_yield() }
        return peer
    }
}
