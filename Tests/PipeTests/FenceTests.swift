import Testing

@testable import StrataPipe

/// The test of the server's guard, and the claim to the node's name.
struct FenceTests {
    /// A fence with a clock.
    private struct Tried {
        var fence: Fence
        var now: UInt64 = PipeTimes.second
        let link: UInt64

        init(link: UInt64 = 5, isNeeded: Bool = true) {
            self.link = link
            fence = Fence(link: link, isNeeded: isNeeded)
            fence.carrierConnected(nonce: 9, at: now)
        }

        mutating func actions() -> [FenceAction] {
            var actions: [FenceAction] = []
            while let action = fence.next(at: now) { actions.append(action) }
            return actions
        }

        mutating func wait(_ milliseconds: UInt64) {
            now += milliseconds * PipeTimes.millisecond
            fence.timePassed(at: now)
        }

        mutating func echo(isHeld: Bool = false) {
            fence.received(.claim(link: link, nonce: 9, isHeld: isHeld), inOwnName: true, at: now)
        }

        mutating func open() {
            _ = actions()
            echo()
            wait(250)
            #expect(actions() == [.open])
        }
    }

    @Test func aServerThatGuardsTheNamesIsUsed() {
        var tried = Tried()
        #expect(tried.actions() == [.publishProbe(.probe(9)), .publishClaim(.claim(link: 5, nonce: 9, isHeld: false))])
        tried.echo()
        #expect(tried.actions() == [], "another holder of the name has a while to answer")
        #expect(tried.fence.deadline == tried.now + Fence.patience)
        tried.wait(250)
        #expect(tried.actions() == [.open])
        #expect(tried.fence.isOpen)
    }

    @Test func aServerThatGuardsNothingIsRefused() {
        var tried = Tried()
        _ = tried.actions()
        tried.fence.received(.probe(8), inOwnName: false, at: tried.now)
        tried.fence.received(.probe(9), inOwnName: true, at: tried.now)
        #expect(tried.actions() == [], "neither is the probe in another's name")
        tried.fence.received(.probe(9), inOwnName: false, at: tried.now)
        #expect(tried.actions() == [.refuse(.unguarded)])
        tried.echo()
        tried.wait(1_000)
        #expect(tried.actions() == [])
        #expect(!tried.fence.isOpen)
        #expect(tried.fence.deadline == nil)
    }

    @Test func theProbeComesBeforeEachClaimUntilOneIsBack() {
        var tried = Tried()
        let both = tried.actions()
        tried.wait(1_000)
        #expect(tried.actions() == both)
    }

    @Test func anUnguardedServerMayBeAllowed() {
        var tried = Tried(isNeeded: false)
        #expect(tried.actions() == [.publishClaim(.claim(link: 5, nonce: 9, isHeld: false))])
        tried.fence.received(.probe(9), inOwnName: false, at: tried.now)
        #expect(tried.actions() == [])
    }

    @Test func eachConnectionIsTriedAnewWithoutAWait() {
        var tried = Tried()
        tried.open()
        tried.fence.carrierDisconnected()
        #expect(!tried.fence.isOpen)
        #expect(tried.actions() == [])
        tried.fence.carrierConnected(nonce: 10, at: tried.now)
        #expect(
            tried.actions() == [.publishProbe(.probe(10)), .publishClaim(.claim(link: 5, nonce: 10, isHeld: true))])
        tried.echo()
        #expect(tried.actions() == [], "it is of the connection before")
        tried.fence.received(.claim(link: 5, nonce: 10, isHeld: true), inOwnName: true, at: tried.now)
        #expect(tried.actions() == [.open])
    }

    @Test func aNewcomerGivesWayToTheHolderOfItsName() {
        var newcomer = Tried(link: 5)
        _ = newcomer.actions()
        newcomer.echo()
        newcomer.fence.received(.claim(link: 7, nonce: 1, isHeld: true), inOwnName: false, at: newcomer.now)
        #expect(newcomer.actions() == [], "it isn't in this node's name")
        newcomer.fence.received(.claim(link: 7, nonce: 1, isHeld: true), inOwnName: true, at: newcomer.now)
        #expect(newcomer.actions() == [.refuse(.nameTaken)])
        var holder = Tried(link: 7)
        holder.open()
        holder.fence.received(.claim(link: 5, nonce: 1, isHeld: false), inOwnName: true, at: holder.now)
        #expect(holder.actions() == [.publishClaim(.claim(link: 7, nonce: 9, isHeld: true))], "and says so at once")
        #expect(holder.fence.isOpen)
    }

    @Test(arguments: [false, true])
    func ofTwoEqualsTheHigherNumberGivesWay(held: Bool) {
        for (mine, isRefused) in [(UInt64(6), false), (8, true)] {
            var tried = Tried(link: mine)
            if held { tried.open() } else { _ = tried.actions() }
            tried.fence.received(.claim(link: 7, nonce: 1, isHeld: held), inOwnName: true, at: tried.now)
            #expect(tried.actions().contains(.refuse(.nameTaken)) == isRefused)
        }
    }

    @Test func theClaimIsRepeatedForThoseBehindAMendedCut() {
        var tried = Tried()
        tried.open()
        tried.wait(9_749)
        #expect(tried.actions() == [])
        tried.wait(1)
        #expect(tried.actions() == [.publishClaim(.claim(link: 5, nonce: 9, isHeld: true))])
    }

    @Test func eachPairOfStateAndEventIsListed() {
        let states: [FenceLife] = [.away, .trying, .waiting(until: 1), .open, .refused]
        let events: [FenceLife.Event] = [.connected, .disconnected, .echoed(waitUntil: 1), .admitted, .refused]
        let after: [[FenceLife?]] = [
            [.trying, nil, nil, nil, nil],
            [nil, .away, .waiting(until: 1), nil, .refused],
            [nil, .away, nil, .open, .refused],
            [nil, .away, nil, nil, .refused],
            [.refused, .refused, nil, nil, nil],
        ]
        for (state, row) in zip(states, after) {
            for (event, next) in zip(events, row) { #expect(state.after(event) == next, "\(state), \(event)") }
        }
    }
}
