import StrataCore
import StrataLoop
import Testing

@testable import StrataBus

/// A load that is too large to be handed over is refused with figures.
struct HandOverLoadTests {
    private let plenty = MemoryRoom(bytes: .max, limit: "")

    private func problem(_ room: MemoryRoom? = nil, _ change: (inout HandOverLoad) -> Void) -> String {
        var load = HandOverLoad()
        change(&load)
        return load.problem { room ?? plenty } ?? ""
    }

    @Test func aLoadWithinItsBoundsIsHandedOver() {
        #expect(problem { _ in } == "")
        #expect(problem { $0.bytes = HandOverLoad.mostBytes } == "")
        #expect(problem { ($0.bytes, $0.copied) = (HandOverLoad.mostBytes / 2, HandOverLoad.mostBytes / 2) } == "")
        #expect(problem { $0.others = HandOverLoad.mostParts } == "")
        #expect(problem { $0.frames = HandOverLoad.mostParts * HandOverLoad.framesOfAPart } == "")
    }

    @Test(.promise("10.31", "R.24")) func moreBytesAreRefusedAndTheLargestQueueIsNamed() {
        let problem = problem {
            $0.bytes = 2_000 << 20
            $0.largest = ("Ant", 8 << 20)
        }
        #expect(problem.contains("2000 MiB wait, 8 MiB of them from or for Ant"))
        #expect(problem.contains("at most 1024 MiB can be handed over"))
    }

    /// Copied bodies are twice the work, and take their memory twice.
    @Test func smallBodiesCountTwice() {
        let half = HandOverLoad.mostBytes / 2
        #expect(problem { ($0.bytes, $0.copied) = (half + 1, half) }.contains("512 MiB of small bodies count twice"))
        let room = MemoryRoom(bytes: 100 << 20, limit: "ulimit -v")
        #expect(problem(room) { ($0.bytes, $0.copied) = (20 << 20, 18 << 20) }.contains("takes 102 MiB"))
        #expect(problem(room) { ($0.bytes, $0.copied) = (20 << 20, 16 << 20) } == "")
    }

    @Test func moreOpenRequestsAreRefused() {
        #expect(problem { $0.others = HandOverLoad.mostParts + 1 }.contains("250001 requests"))
        #expect(problem { ($0.others, $0.frames) = (HandOverLoad.mostParts, 32) }.contains("32 frames wait"))
    }

    @Test(.promise("10.31")) func missingMemoryIsRefusedWithTheNameOfItsLimit() {
        let room = MemoryRoom(bytes: 100 << 20, limit: "memory.max of /sys/fs/cgroup/app")
        let problem = problem(room) { $0.bytes = 40 << 20 }
        #expect(problem.contains("takes 104 MiB, and memory.max of /sys/fs/cgroup/app leaves 100 MiB"))
        #expect(self.problem(room) { $0.bytes = 36 << 20 } == "")
    }
}
