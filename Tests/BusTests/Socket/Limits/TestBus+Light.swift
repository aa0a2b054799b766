import Glibc
import StrataCore
import StrataLoop
import StrataTesting

@testable import StrataBus

extension TestBus {
    /// A module that asks seldom and little, so that others' turns are short from its
    /// next one on.
    func lightModule(_ name: String) throws -> RawPeer {
        let peer = try module(name)
        for _ in 0..<10 { try peer.settle() }
        // A turn that follows the last one sooner than that is no light one.
        let next = Loop.nanoseconds + 10 * TurnShares.lightGap
        while Loop.nanoseconds < next { sched_yield() }
        return peer
    }
}
