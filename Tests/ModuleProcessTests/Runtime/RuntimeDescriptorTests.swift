import Glibc
import StrataCore
import StrataLoop
import Testing

@testable import Strata

/// Descriptors between modules in Swift, and the real broker.
@Suite(.timeLimit(.hang))
struct RuntimeDescriptorTests {
    private static let manifest = """
        app: demo
        schemes: [demo]
        modules:
          Vault: {start: manual}
          Reader: {level: middle, start: manual}
          Plain: {level: middle, start: manual}
        """

    /// Reads what is in a pipe until all of its writing ends are closed; nil if they aren't.
    private func rest(of reading: Int32) -> String? {
        var wanted = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        var text = ""
        var bytes = [UInt8](repeating: 0, count: 64)
        while poll(&wanted, 1, 10_000) == 1 {
            let count = read(reading, &bytes, bytes.count)
            if count <= 0 { return text }
            text += String(decoding: bytes[..<count], as: UTF8.self)
        }
        return nil
    }

    private func pipe() throws -> (reading: Descriptor, writing: Descriptor) {
        let ends = try Pipe()
        return (Descriptor(ends.reading), Descriptor(ends.writing))
    }

    @Test(.promise("6.58")) func theyGoWithCallsRepliesAndReports() async throws {
        try await RuntimeApp.run(Self.manifest, [VaultModule.self, ReaderModule.self, PlainModule.self]) { app in
            let bus = app.bus(of: ReaderModule.self)
            let (reading, writing) = try pipe()
            // The handler writes into it, and gives it back.
            let answer = try await bus.call(Vault.Write(text: "one "), descriptors: [writing])
            #expect(answer.value == 1 && answer.descriptors.count == 1)
            let untyped = try await bus.call("Vault/append", "two ", descriptors: answer.descriptors)
            #expect(untyped.value == 1 && untyped.descriptors.isEmpty)
            #expect(try await bus.report(Vault.Kept(), to: "Vault", descriptors: [writing]) == 1)
            let vault = app.module(VaultModule.self)
            #expect(vault.kept.count == 1)
            #expect(try await bus.report("kept", to: "Vault", descriptors: [writing]) == 1)
            let number = writing.take()
            #expect(number >= 0 && writing.take() == -1 && writing.number == -1)
            close(number)
            vault.kept = []
            // `answer` has one end.
            #expect(answer.descriptors[0].number >= 0)
            close(answer.descriptors[0].take())
            #expect(rest(of: reading.number) == "one two three three ")
        }
    }

    @Test(.promise("6.59", "6.62")) func whatNobodyTakesIsClosed() async throws {
        try await RuntimeApp.run(Self.manifest, [VaultModule.self, ReaderModule.self, PlainModule.self]) { app in
            let bus = app.bus(of: ReaderModule.self)
            let (reading, writing) = try pipe()
            // More than the action takes, an unknown one, one whose handler fails, and one that is too many for a frame.
            for (action, count, code) in [
                ("append", 2, ErrorCode.badParams), ("nothing", 1, .badParams), ("drop", 1, .failed),
                ("append", 17, .badParams),
            ] {
                let all = [Descriptor](repeating: writing, count: count)
                let error = await #expect(throws: BusError.self) {
                    try await bus.call("Vault/\(action)", nil, descriptors: all)
                }
                #expect(error?.code == code, "\(action)")
            }
            let closed = Descriptor(1_000_000)
            _ = closed.take()
            let gone = await #expect(throws: BusError.self) {
                try await bus.call("Vault/append", nil, descriptors: [closed])
            }
            #expect(gone?.code == .badParams)
            // One that didn't say that it uses some.
            let plain = await #expect(throws: BusError.self) {
                try await app.bus(of: PlainModule.self).call("Vault/append", nil, descriptors: [writing])
            }
            #expect(plain?.message.contains("usesDescriptors") == true)
            close(writing.take())
            #expect(rest(of: reading.number) == "")
        }
    }
}

enum Vault: Interface {
    static let name = "Vault"

    struct Write: Action {
        static let name = action("write")
        typealias Reply = Int
        var text: String
    }

    struct Kept: Report {
        static let name = "kept"
    }
}

final class VaultModule: Module {
    static let name = "Vault"
    var kept: [Descriptor] = []

    init(bus: Bus) {}

    static func write(_ text: String, to descriptor: Descriptor) {
        var text = text
        _ = text.withUTF8 { Glibc.write(descriptor.number, $0.baseAddress, $0.count) }
    }

    func register(_ exports: inout Exports) {
        exports.action(Vault.Write.self, descriptors: .init(params: 1, reply: 1)) { request, call in
            for descriptor in call.descriptors { Self.write(request.text, to: descriptor) }
            return WithDescriptors(call.descriptors.count, call.descriptors)
        }
        exports.action("Vault/append", descriptors: .init(params: 1)) { call in
            for descriptor in call.descriptors { Self.write(try call.params.string ?? "", to: descriptor) }
            return WithDescriptors(.integer(Int64(call.descriptors.count)))
        }
        exports.action("Vault/drop", descriptors: .init(params: 1)) { _ in
            throw ModuleError(.failed, "as the test says")
        }
        exports.observe(Vault.Kept.name) { [unowned self] delivery in
            kept = delivery.descriptors
            for descriptor in kept { Self.write("three ", to: descriptor) }
        }
    }
}

final class ReaderModule: Module {
    static let name = "Reader"

    init(bus: Bus) {}

    func register(_ exports: inout Exports) { exports.usesDescriptors() }
}

final class PlainModule: Module {
    static let name = "Plain"

    init(bus: Bus) {}

    func register(_ exports: inout Exports) {}
}
