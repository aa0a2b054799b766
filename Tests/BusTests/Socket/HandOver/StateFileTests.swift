import Glibc
import StrataCore
import StrataLoop
import StrataTesting
import TestSupport
import Testing

@testable import StrataBus

/// A state that a broker writes is read as it was written, or refused.
struct StateFileTests {
    private func state() -> BrokerState {
        var state = BrokerState()
        state.table = Array(AppTable(app: "test").json().encoded())
        state.removedRows = state.table
        state.listener.path = "/nowhere/bus"
        var peer = PeerState()
        peer.number = 7
        peer.kept = .array([1, 2, 3])
        peer.output.written = 10
        peer.output.end = 30
        peer.output.frames = [
            .init(end: 20, inlineCount: 15, isAnswer: true), .init(end: 30, inlineCount: 8, isAnswer: false),
        ]
        peer.output.bytes = .array(Array(repeating: 9, count: 18))
        peer.made = [3, 1, 2]
        state.peers = [peer]
        var call = CallState()
        call.slot = 1
        call.deadline.expiry = .max
        call.held = HeldRequest.Copy()
        call.held?.object = [5]
        state.calls = [call]
        state.generations = [1, 2, 3]
        var module = ModuleState()
        module.name = "Ant"
        module.life = .live(.started)
        module.session.begin(
            PeerCredentials(pid: 1, uid: 2, gid: 3, seenAt: 0), events: ["é", ""], requires: ["b", "a"])
        module.history.note(.spawned, at: StartTimes.Moment(steady: 500, wall: 1_000))
        module.history.note(.connected, at: StartTimes.Moment(steady: 600, wall: 1_100))
        state.modules = [module]
        return state
    }

    private func bytes(of descriptor: Int32) -> [UInt8] {
        let size = Int(lseek(descriptor, 0, SEEK_END))
        var bytes = [UInt8](repeating: 0, count: size)
        #expect(pread(descriptor, &bytes, size, 0) == size)
        return bytes
    }

    /// Makes a sealed file of any bytes.
    private func file(_ bytes: [UInt8]) throws -> Int32 {
        let descriptor = try MemoryFile.makeSealable("test")
        #expect(write(descriptor, bytes, bytes.count) == bytes.count)
        try MemoryFile.seal(descriptor)
        return descriptor
    }

    @Test func whatIsWrittenIsReadAgain() throws {
        let descriptor = try StateFile.write(state()).state
        defer { close(descriptor) }
        let read = try StateFile.read(descriptor)
        // Written once more, it is the same, byte for byte.
        let again = try StateFile.write(read).state
        defer { close(again) }
        #expect(bytes(of: again) == bytes(of: descriptor))
        #expect(read.peers[0].output.frames == state().peers[0].output.frames)
        #expect(read.peers[0].output.bytes.array == state().peers[0].output.bytes.array)
        #expect(read.calls[0].deadline.expiry == .max)
        #expect(read.modules[0].life == .live(.started))
        #expect(read.modules[0].history.times == state().modules[0].history.times)
        #expect(read.modules[0].session.events == ["é", ""] && read.modules[0].session.requires == ["b", "a"])
        #expect(write(descriptor, [1], 1) < 0, "the file is sealed")
    }

    @Test func aStateThatIsCutOffOrTooLongIsRefused() throws {
        let descriptor = try StateFile.write(state()).state
        defer { close(descriptor) }
        let whole = bytes(of: descriptor)
        for count in 1..<whole.count {
            let part = try file(Array(whole[..<count]))
            defer { close(part) }
            #expect(throws: StateError.self) { try StateFile.read(part) }
        }
        let long = try file(whole + [0])
        defer { close(long) }
        #expect(throws: StateError.self) { try StateFile.read(long) }
    }

    @Test func anotherVersionsStateIsRefusedByName() throws {
        let descriptor = try StateFile.write(state()).state
        defer { close(descriptor) }
        var whole = bytes(of: descriptor)
        let end = try #require(whole.firstIndex(of: UInt8(ascii: "\n")))
        whole[end - 1] = UInt8(ascii: "x")
        let other = try file(whole)
        defer { close(other) }
        let error = #expect(throws: StateError.self) { try StateFile.read(other) }
        #expect(error?.description.contains("strata state 1x") == true)
    }

    @Test func aStateWithAnythingElseInItIsReadOrRefusedAndNeverCrashes() throws {
        let descriptor = try StateFile.write(state()).state
        defer { close(descriptor) }
        let whole = bytes(of: descriptor)
        var generator = SeededGenerator(5)
        for _ in 0..<2_000 {
            var changed = whole
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                changed[Int.random(in: 24..<changed.count, using: &generator)] = UInt8.random(
                    in: .min ... .max, using: &generator)
            }
            let other = try file(changed)
            defer { close(other) }
            guard let read = try? StateFile.read(other) else { continue }
            _ = try? read.moduleRecords(AppTable(app: "test"))
        }
    }

    /// Waiting bytes are written once, directly from where they lie, and are read without a copy.
    @Test(.promise("10.31")) func manyBytesStandInAFileOfTheirOwn() throws {
        let large = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        let files = try large.withUnsafeBytes { bytes in
            var state = state()
            state.payloads = [.pieces([bytes])]
            // More buffers than one system call takes, some of them empty.
            state.peers[0].kept = .pieces(
                (0..<3_000).map { UnsafeRawBufferPointer(rebasing: bytes[$0..<$0 + $0 % 30]) })
            return try StateFile.write(state)
        }
        defer { files.close() }
        let kept = (0..<3_000).flatMap { large[$0..<$0 + $0 % 30] }
        #expect(lseek(files.queues, 0, SEEK_END) == off_t(large.count + kept.count))
        #expect(lseek(files.state, 0, SEEK_END) < 4_096)
        let read = try StateFile.read(files.state)
        #expect(read.queues.descriptor == files.queues)
        #expect(read.payloads[0].array == large && read.peers[0].kept.array == kept)
        let mapped = try #require(read.queues.mapped).bytes
        for bytes in [read.payloads[0], read.peers[0].kept] {
            guard case .pieces(let pieces) = bytes else {
                Issue.record("it was copied")
                continue
            }
            #expect(pieces.allSatisfy { $0.baseAddress! >= mapped.baseAddress! })
        }
    }

    @Test func bytesThatAreNotInTheirFileAreRefused() throws {
        let large = [UInt8](repeating: 1, count: 20_000)
        var state = state()
        state.payloads = [.array(large)]
        let files = try StateFile.write(state)
        defer { files.close() }
        var whole = bytes(of: files.state)
        // The word of an element that lies in the other file, and the place where it begins
        // there.
        func word(_ count: Int64) -> Int64 { Int64(StateFile.Kind.waiting.rawValue) << 16 | count << 24 }
        let own = withUnsafeBytes(of: word(20_000)) { Array($0) }
        let place = try #require(whole.indices.first { whole[$0...].starts(with: own) })
        for (offset, value) in [(0, word(20_001)), (0, word(1 << 40 - 1)), (8, 1), (8, -1), (8, .max)] {
            let before = whole
            withUnsafeBytes(of: value) { whole.replaceSubrange(place + offset..<place + offset + 8, with: $0) }
            let other = try file(whole)
            defer { close(other) }
            #expect(throws: StateError.self) { try StateFile.read(other) }
            whole = before
        }
        // A file that could still shrink under its reader is refused.
        let open = try MemoryFile.makeSealable("test")
        defer { close(open) }
        #expect(write(open, large, large.count) == large.count)
        withUnsafeBytes(of: Int64(open)) { whole.replaceSubrange(16..<24, with: $0) }
        let other = try file(whole)
        defer { close(other) }
        #expect(throws: StateError.self) { try StateFile.read(other) }
    }

    @Test func framesThatContradictTheirBytesAreUnsound() {
        func isSound(_ change: (inout Outbox.Contents) -> Void) -> Bool {
            var contents = state().peers[0].output
            change(&contents)
            return contents.isSound([])
        }
        #expect(isSound { _ in })
        #expect(!isSound { $0.bytes = .array(Array($0.bytes.array.dropLast())) })
        #expect(!isSound { $0.frames[1].end = 19 })
        #expect(!isSound { $0.end = 25 })
        #expect(!isSound { $0.frames[1].payload = 0 })
        #expect(!isSound { $0.frames[1].payloadCount = 1 })
        #expect(!isSound { $0.frames[0].inlineCount = .max })
    }
}
