import StrataCore
import Testing

@testable import Strata

/// An offer that doesn't fit into one frame is sent in parts. Users of the runtime don't notice.
@Suite(.timeLimit(.hang))
struct RuntimePartsTests {
    private static let manifest = """
        app: demo
        schemes: [demo]
        modules:
          Large: {start: manual}
          Library: {start: manual}
          Player: {level: middle, start: manual}
        """

    @Test(.promise("5.9")) func aLargeOfferIsSaidInParts() async throws {
        try await RuntimeApp.run(Self.manifest, [LargeModule.self, LibraryModule.self]) { app in
            let (runtime, bus) = (app.runtime(of: LargeModule.self), app.bus(of: LibraryModule.self))
            #expect(OfferParts.of(runtime.hello(resumed: false, takesFiles: false)).count > 8)
            for resumed in [false, true] {
                #expect(try await bus.call("\(LargeModule.name(59))/\(LargeModule.name(0))") == 0)
                #expect(try await bus.call("\(LargeModule.name(0))/\(LargeModule.name(4_999))") == 4_999)
                #expect(try await bus.open("demo://large.example/\(LargeModule.path(99))") == 99)
                for observed in ["n0", "n299"] {
                    #expect(try await bus.report(observed, to: "Large") == 1)
                    #expect(app.module(LargeModule.self).seen.last == observed)
                }
                guard !resumed else { break }
                runtime.connection.lose(runtime.connection.session!)  // because it is ready
                _ = try await Bus(runtime).call("bus/ping")
            }
        }
    }

    @Test func soIsWhatIsRegisteredLater() async throws {
        try await RuntimeApp.run(Self.manifest, [LargeModule.self, LibraryModule.self, PlayerModule.self]) { app in
            let bus = app.bus(of: LibraryModule.self)
            let last = LargeModule.name(2_999)
            let registration = try await bus.register { exports in
                for number in 0..<3_000 { exports.action("Late/\(LargeModule.name(number))") { _ in 7 } }
                for number in 0..<40 { exports.url("late.example", "/\(LargeModule.path(number))", to: "Late/\(last)") }
            }
            let caller = app.bus(of: PlayerModule.self)
            #expect(try await caller.call("Late/\(last)") == 7)
            #expect(try await caller.open("demo://late.example/\(LargeModule.path(39))") == 7)
            try await registration.end()
            let error = await #expect(throws: BusError.self) { try await caller.call("Late/\(last)") }
            #expect(error?.code == .unknownInterface)
            #expect(try await caller.canOpen("demo://late.example/\(LargeModule.path(39))") == false)
            // The last part fails because of another module's URL. The parts accepted before it
            // are taken back.
            let refusal = await #expect(throws: BusError.self) {
                try await bus.register { exports in
                    for number in 0..<3_000 { exports.action("Late/\(LargeModule.name(number))") { _ in 7 } }
                    exports.url("large.example", "/\(LargeModule.path(0))", to: "Late/\(last)")
                }
            }
            #expect(refusal?.code == .nameTaken)
            let gone = await #expect(throws: BusError.self) { try await caller.call("Late/\(LargeModule.name(0))") }
            #expect(gone?.code == .unknownInterface)
        }
    }

    // MARK: the division

    @Test func whatFitsIsOnePart() throws {
        let whole: JSON = ["protocol": 1, "module": "A", "interfaces": ["A": ["actions": ["a": [:]]]]]
        #expect(OfferParts.of(whole) == [whole])
    }

    @Test func eachPartKeepsTheBusesBoundsAndNothingIsLost() throws {
        func names(_ count: Int, _ letter: String) -> [JSON] { (0..<count).map { .string("\(letter)\($0)") } }
        let actions = (0..<9_000).map { JSON.Member("a\($0)", $0 % 2 == 0 ? [:] : ["auth": true]) }
        let urls: [JSON] = (0..<30).map { ["host": "h", "path": .string(LargeModule.path($0)), "to": "One/a0"] }
        let one: JSON = ["instances": "single", "actions": .object(actions)]
        let whole: JSON = [
            "protocol": 1, "module": "A", "token": "t",
            "interfaces": .object([.init("One", one), .init("Two", ["instances": "multiple"])]), "urls": .array(urls),
            "observes": .array(names(5_000, "o")), "broadcasts": .array(names(10, "b")),
            "reports": ["M": .array(names(5_000, "r")), "N": ["n"]], "events": .array(names(3, "e")), "resumed": true,
        ]
        let parts = OfferParts.of(whole)
        for (index, part) in parts.enumerated() {
            #expect(part.encoded().count <= 64 << 10 && part.valueCount <= 4_096)
            #expect(part["more"] == (index < parts.count - 1 ? true : nil))
            #expect(part["resumed"] == (index == 0 ? true : nil) && part["token"] == (index == 0 ? "t" : nil))
        }
        func all(_ name: String) -> [JSON] { parts.flatMap { $0[name]?.array ?? [] } }
        for name in ["urls", "observes", "broadcasts", "events"] { #expect(all(name) == whole[name]?.array) }
        let ones = parts.compactMap { $0["interfaces"]?["One"] }
        #expect(ones.flatMap { $0["actions"]?.object ?? [] } == actions)
        #expect(ones.map { $0["add"] == true } == [false] + Array(repeating: true, count: ones.count - 1))
        #expect(parts.compactMap { $0["interfaces"]?["Two"] } == [["instances": "multiple"]])
        #expect(parts.flatMap { $0["reports"]?["M"]?.array ?? [] } == names(5_000, "r"))
        #expect(parts.compactMap { $0["reports"]?["N"] } == [["n"]])
    }
}

/// A module that brings more than a frame of hello holds.
final class LargeModule: Module {
    static let name = "Large"
    var seen: [String] = []

    init(bus: Bus) {}

    nonisolated static func name(_ number: Int) -> String { "x" + String(repeating: "y", count: 50) + String(number) }
    nonisolated static func path(_ number: Int) -> String { String(repeating: "p", count: 3_000) + String(number) }

    func register(_ exports: inout Exports) {
        for number in 0..<5_000 {
            exports.action("\(Self.name(0))/\(Self.name(number))") { _ in .integer(Int64(number)) }
        }
        for number in 1..<60 { exports.action("\(Self.name(number))/\(Self.name(0))") { _ in 0 } }
        for number in 0..<100 {
            exports.url("large.example", "/\(Self.path(number))", to: "\(Self.name(0))/\(Self.name(number))")
        }
        for number in 0..<300 {
            exports.observe("n\(number)") { [unowned self] notice in self.seen.append(notice.name) }
            exports.observe("x\(number)", object: String(repeating: "o", count: 1_000)) { _ in }
        }
    }
}
