import StrataCore
import Testing

@testable import StrataBus

/// The frames that are kept for monitors: in order, and within bounds.
struct NoteRingTests {
    private func text(_ string: StaticString) -> Header.Text {
        Header.Text(start: string.utf8Start, count: string.utf8CodeUnitCount)
    }

    /// Keeps a broadcast; false if there is no room.
    private func add(_ body: [UInt8], to ring: NoteRing, id: UInt64 = 1, withBody: Bool = true) -> Bool {
        body.withUnsafeBytes { body in
            let frame = MonitoredFrame(
                kind: .broadcast, id: id, from: text("Ant"), to: .none, name: text("news"), body: body)
            guard !ring.isFull, let place = ring.place(for: frame, withBody: withBody) else { return false }
            ring.add(frame, at: place, for: 1, time: 1)
            return true
        }
    }

    private func body(_ note: FrameNote, in ring: NoteRing) -> [UInt8] {
        var texts = ring.texts(of: note)
        #expect(texts.take(Int(note.from)).text == "Ant" && texts.take(Int(note.to)).text.isEmpty)
        #expect(texts.take(note.callee) == nil)
        #expect(texts.take(note.name)?.text == "news")
        return Array(texts.take(note.bodyCount))
    }

    @Test(.promise("10.20")) func aNoteHasAFixedSize() {
        #expect(MemoryLayout<FrameNote>.stride <= 88)
        #expect(_isPOD(FrameNote.self), "copying one counts references")
    }

    @Test(.promise("10.20")) func notesComeOutAsTheyWentIn() throws {
        let ring = NoteRing(most: 8 + Monitor.most, bytes: 1_000)
        var next: UInt64 = 1
        // Goes round several times, so that notes and bytes both wrap.
        for first in 1...200 as ClosedRange<UInt64> {
            while next < first + 5 {
                #expect(add(Array(repeating: UInt8(next), count: Int(next) % 90), to: ring, id: next))
                next += 1
            }
            let note = try #require(ring.takeFirst())
            #expect(note.id == first)
            #expect(body(note, in: ring) == Array(repeating: UInt8(first), count: Int(first) % 90))
        }
    }

    /// Each monitor may have missed something before a frame.
    @Test(.promise("10.20")) func thereAreNoMoreNotesThanTheRingHas() {
        let ring = NoteRing(most: 8 + Monitor.most, bytes: 10_000)
        for _ in 0..<8 { #expect(add([], to: ring)) }
        #expect(!add([], to: ring) && ring.count == 8)
        _ = ring.takeFirst()
        for bit in 0..<Monitor.most { ring.addGap(1, of: 1 << UInt16(bit)) }
        #expect(ring.count == 7 + Monitor.most && ring.isFull)
        for _ in 0..<7 { #expect(ring.takeFirst()?.isGap == false) }
        for bit in 0..<Monitor.most { #expect(ring.takeFirst()?.monitors == 1 << UInt16(bit)) }
    }

    @Test(.promise("10.21")) func bodiesLeaveRoomForTexts() throws {
        let ring = NoteRing(most: 100, bytes: 4_000)
        let large = [UInt8](repeating: 1, count: 900)
        var kept: [FrameNote.Body] = []
        for _ in 0..<50 { #expect(add(large, to: ring)) }
        while let note = ring.takeFirst() { kept.append(note.body) }
        #expect(kept == [.kept, .kept, .kept] + Array(repeating: .noRoom, count: 47))
        #expect(ring.bytesInUse == 0)
    }

    @Test(.promise("10.21")) func onlyTheStartOfABodyOverTheBoundIsCopied() throws {
        let ring = NoteRing()
        #expect(add([UInt8](repeating: 1, count: FrameNote.largestBody), to: ring))
        let used = ring.bytesInUse
        #expect(used == FrameNote.largestBody + 7)
        #expect(add([UInt8](repeating: 1, count: FrameNote.largestBody + 1), to: ring))
        #expect(ring.bytesInUse == used + FrameNote.start + 7)
        #expect(add([1, 2, 3], to: ring, withBody: false))
        #expect(ring.bytesInUse == used + FrameNote.start + 14)
        #expect([ring.takeFirst(), ring.takeFirst(), ring.takeFirst()].map { $0?.body } == [.kept, .begun, .unwanted])
    }

    @Test(.promise("10.20")) func textsWithoutRoomAreRefused() {
        let ring = NoteRing(most: 100, bytes: 50)
        var count = 0
        while add([], to: ring) { count += 1 }
        // Seven bytes each, and one that stays free.
        #expect(count == 7 && ring.count == 7)
    }

    @Test func notesForAnEndedMonitorAreDropped() throws {
        let ring = NoteRing(most: 40, bytes: 100)
        #expect(add([], to: ring))
        ring.addGap(3, of: 1)
        ring.forget(1)
        #expect(try #require(ring.takeFirst()).monitors == 0)
        #expect(try #require(ring.takeFirst()).monitors == 0)
    }
}
