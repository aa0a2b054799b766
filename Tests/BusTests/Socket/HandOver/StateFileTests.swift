import Glibc
import StrataCore
import TestSupport
import Testing

@testable import StrataBus

/// What a broker writes down is read as it was written, or refused.
struct StateFileTests {
    private func state() -> BrokerState {
        var state = BrokerState()
        state.table = Array(AppTable(app: "test").json().encoded())
        state.removedRows = state.table
        state.path = "/nowhere/bus"
        var peer = PeerState()
        peer.number = 7
        peer.kept = [1, 2, 3]
        peer.output.written = 10
        peer.output.end = 30
        peer.output.frames = [.init(end: 20, count: 15, isAnswer: true), .init(end: 30, count: 8, isAnswer: false)]
        peer.output.bytes = Array(repeating: 9, count: 18)
        peer.made = [3, 1, 2]
        state.peers = [peer]
        var call = CallState()
        call.slot = 1
        call.expiry = .max
        call.held = HeldState()
        call.held?.object = BytesState([5])
        state.calls = [call]
        state.generations = [1, 2, 3]
        var module = ModuleState()
        module.name = "Ant"
        module.state = "ready"
        module.events = ["é", ""]
        state.modules = [module]
        return state
    }

    private func bytes(of descriptor: Int32) -> [UInt8] {
        let size = Int(lseek(descriptor, 0, SEEK_END))
        var bytes = [UInt8](repeating: 0, count: size)
        #expect(pread(descriptor, &bytes, size, 0) == size)
        return bytes
    }

    /// A sealed file of any bytes.
    private func file(_ bytes: [UInt8]) throws -> Int32 {
        let descriptor = try MemoryFile.makeSealable("test")
        #expect(write(descriptor, bytes, bytes.count) == bytes.count)
        try MemoryFile.seal(descriptor)
        return descriptor
    }

    @Test func whatIsWrittenIsReadAgain() throws {
        let descriptor = try StateFile.write(state())
        defer { close(descriptor) }
        let read = try StateFile.read(descriptor)
        // Written once more it is the same, byte for byte.
        let again = try StateFile.write(read)
        defer { close(again) }
        #expect(bytes(of: again) == bytes(of: descriptor))
        #expect(read.peers[0].output == state().peers[0].output)
        #expect(read.calls[0].expiry == .max)
        #expect(read.modules[0].events == ["é", ""])
        #expect(write(descriptor, [1], 1) < 0, "the file is sealed")
    }

    @Test func aStateThatIsCutOffOrTooLongIsRefused() throws {
        let descriptor = try StateFile.write(state())
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
        let descriptor = try StateFile.write(state())
        defer { close(descriptor) }
        var whole = bytes(of: descriptor)
        let end = try #require(whole.firstIndex(of: UInt8(ascii: "\n")))
        whole[end - 1] = UInt8(ascii: "x")
        let other = try file(whole)
        defer { close(other) }
        let error = #expect(throws: StateError.self) { try StateFile.read(other) }
        #expect(error?.description.contains("strata state x") == true)
    }

    @Test func aStateWithAnythingElseInItIsReadOrRefusedAndNeverCrashes() throws {
        let descriptor = try StateFile.write(state())
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

    @Test func framesThatContradictTheirBytesAreUnsound() {
        var contents = state().peers[0].output
        #expect(contents.isSound)
        contents.bytes.removeLast()
        #expect(!contents.isSound)
        contents = state().peers[0].output
        contents.frames[1].end = 19
        #expect(!contents.isSound)
        contents = state().peers[0].output
        contents.end = 25
        #expect(!contents.isSound)
    }
}
