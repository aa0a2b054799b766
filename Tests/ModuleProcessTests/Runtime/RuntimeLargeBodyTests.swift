import StrataCore
import Testing

@testable import Strata

/// Large bodies between modules in Swift, and the real broker.
@Suite(.timeLimit(.hang))
struct RuntimeLargeBodyTests {
    /// With frames that hold none of them.
    private static let manifest = """
        app: demo
        schemes: [demo]
        limits: {frame: 256KiB, body: 1MiB}
        modules:
          Texts: {start: manual}
          Author: {level: middle, start: manual}
        """

    private static let text = String(repeating: "large ", count: 100_000)

    private func run(_ test: @escaping @ModuleActor (Bus, TextsModule) async throws -> Void) async throws {
        try await RuntimeApp.run(Self.manifest, [TextsModule.self, AuthorModule.self]) { app in
            try await test(app.bus(of: AuthorModule.self), app.module(TextsModule.self))
        }
    }

    @Test(.promise("6.64")) func theyGoWithCallsRepliesAndReports() async throws {
        try await run { bus, texts in
            #expect(try await bus.call(Texts.Turn(text: Self.text)) == Self.text)
            #expect(try await bus.call("Texts/same", .string(Self.text)) == .string(Self.text))
            #expect(try await bus.report(Texts.Kept(text: Self.text), to: "Texts") == 1)
            #expect(texts.kept == Self.text)
        }
    }

    @Test(.promise("6.64", "6.67")) func whatIsTooLargeIsRefused() async throws {
        try await run { bus, texts in
            let twice = Self.text + Self.text
            let long = await #expect(throws: BusError.self) { try await bus.call(Texts.Turn(text: twice)) }
            #expect(long?.code == .tooLarge && long?.message.contains("limits.body") == true)
            let reply = await #expect(throws: BusError.self) {
                try await bus.call("Texts/double", .string(Self.text))
            }
            #expect(reply?.code == .failed && reply?.ran == .yes)
            // A notice of a broadcast comes in the frame.
            let broadcast = await #expect(throws: BusError.self) {
                try await bus.broadcast("kept", .string(Self.text))
            }
            #expect(broadcast?.code == .tooLarge && broadcast?.message.contains("limits.frame") == true)
            #expect(try await bus.call(Texts.Turn(text: "small")) == "small")
        }
    }
}

enum Texts: Interface {
    static let name = "Texts"

    struct Turn: Action {
        static let name = action("turn")
        typealias Reply = String
        var text: String
    }

    struct Kept: Report {
        static let name = "kept"
        var text: String
    }
}

final class TextsModule: Module {
    static let name = "Texts"
    var kept = ""

    init(bus: Bus) {}

    func register(_ exports: inout Exports) {
        exports.action(Texts.Turn.self) { $0.text }
        exports.action("Texts/same") { try $0.params }
        exports.action("Texts/double") { call in
            let text = try call.params.string ?? ""
            return .string(text + text)
        }
        exports.observe(Texts.Kept.self) { [unowned self] in kept = $0.text }
    }
}

final class AuthorModule: Module {
    static let name = "Author"

    init(bus: Bus) {}

    func register(_ exports: inout Exports) {}
}
