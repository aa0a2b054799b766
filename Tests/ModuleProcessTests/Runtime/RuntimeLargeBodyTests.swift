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

    @Test(.promise("6.64")) func theyGoWithCallsRepliesAndReports() async throws {
        try await RuntimeApp.run(Self.manifest, [TextsModule.self, AuthorModule.self]) { app in
            let bus = app.bus(of: AuthorModule.self)
            let text = Self.text
            let turned = try await bus.call(Texts.Turn(text: text))
            #expect(turned == text)
            let same = try await bus.call("Texts/same", .string(text))
            #expect(same == .string(text))
            let count = try await bus.report(Texts.Kept(text: text), to: "Texts")
            #expect(count == 1)
            #expect(app.module(TextsModule.self).kept == text)
        }
    }

    /// The file of a body is no descriptor that came with an answer.
    @Test(.promise("6.64")) func anAnswersBodyIsNoneOfItsDescriptors() async throws {
        try await RuntimeApp.run(Self.manifest, [TextsModule.self, AuthorModule.self]) { app in
            let text = Self.text
            let answer = try await app.bus(of: AuthorModule.self).call("Texts/same", .string(text), descriptors: [])
            #expect(answer.value == .string(text))
            #expect(answer.descriptors.isEmpty)
        }
    }

    @Test(.promise("6.64", "6.67")) func whatIsTooLargeIsRefused() async throws {
        try await RuntimeApp.run(Self.manifest, [TextsModule.self, AuthorModule.self]) { app in
            let bus = app.bus(of: AuthorModule.self)
            let text = Self.text
            let twice = text + text
            let long = await #expect(throws: BusError.self) { try await bus.call(Texts.Turn(text: twice)) }
            #expect(long?.code == .tooLarge && long?.message.contains("limits.body") == true)
            let reply = await #expect(throws: BusError.self) {
                try await bus.call("Texts/double", .string(text))
            }
            #expect(reply?.code == .failed && reply?.ran == .yes)
            // A notice of a broadcast comes in the frame.
            let broadcast = #expect(throws: BusError.self) { try bus.broadcast("kept", .string(text)) }
            #expect(broadcast?.code == .tooLarge && broadcast?.message.contains("limits.frame") == true)
            let small = try await bus.call(Texts.Turn(text: "small"))
            #expect(small == "small")
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

    func register(_ exports: inout Exports) { exports.usesDescriptors() }
}
