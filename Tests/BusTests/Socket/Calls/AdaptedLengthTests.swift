import StrataCore
import StrataTesting
import Testing

/// A frame that the broker changes on its way is limited, too. The broker's frames may have at
/// most 1 KiB more than the frames that it accepts.
@Suite(.timeLimit(.minutes(1)))
struct AdaptedLengthTests {
    private static let frame = 2_000
    private static let most = frame + 1_024
    private static let names = (0..<40).map { "m\($0)" }
    /// Forty members with short names, which are renamed to long ones.
    private static let short = JSON.object(names.map { .init($0, 1) })

    private static let table = AppTable.testing(
        .manual("Owner", provides: ["Login"]), .manual("Hand", rank: 2)
    ) { table in
        var show = AppTable.AdaptedAction(name: "show", to: "show")
        show.params = names.map { .init(from: $0, to: String(repeating: "x", count: 60) + $0) }
        show.result = names.map { .init(from: String(repeating: "y", count: 60) + $0, to: $0) }
        var adapter = AppTable.Adapter(name: "NoteLogin", to: "Login")
        adapter.actions = [show]
        table.adapters = [adapter]
        table.limits.frame = UInt32(frame)
        table.limits.header = 1_500
    }

    private func run(_ test: (_ owner: RawPeer, _ caller: RawPeer) throws -> Void) throws {
        try MemoryBus.run(Self.table) { bus in
            let urls: JSON = [["host": "show", "path": "/:tip", "to": "Login/show"]]
            try test(try bus.provider("Owner", "Login", ["urls": urls]), try bus.module("Hand"))
        }
    }

    @Test(.promise("12.3")) func paramsThatNoFrameHoldsUnderTheirNewNamesAreTooLarge() throws {
        try run { owner, caller in
            let error = try caller.refused("NoteLogin/show", Self.short, with: "too-large")
            #expect(error.message.contains("limits.frame"), "\(error)")
            try owner.expectNothing()
            // The connection stays, and a renamed body that fits passes.
            let fewer = JSON.object(Array(Self.short.object?.prefix(10) ?? []))
            try caller.call("NoteLogin/show", fewer)
            #expect(try owner.expectCall("Login/show").json.object?.count == 10)
        }
    }

    @Test(.promise("12.3"), arguments: [true, false])
    func aReplyThatNoFrameHoldsUnderItsNewNamesEndsTheCall(isPartial: Bool) throws {
        try run { owner, caller in
            let id = try caller.call("NoteLogin/show", [:])
            let call = try owner.expectCall("Login/show")
            // For a result, the owner uses the short names, and the caller would get the long
            // ones.
            try isPartial ? owner.partialReply(to: call, Self.short) : owner.reply(to: call, Self.short)
            let error = try caller.expectError(to: id, "too-large", ran: "yes")
            #expect(error.message.contains("limits.frame"), "\(error)")
            if isPartial { try owner.expect(["kind": "cancel", "id": call.number]) }
            try owner.expectNothing()
        }
    }

    /// Escapes are longer in JSON than in a URL.
    @Test(.promise("9.2")) func aURLWhoseParamsNoFrameHoldsIsABadURL() throws {
        try run { owner, caller in
            let behind = "#" + String(repeating: "f", count: 450)
            for (count, fits) in [(50, true), (300, false)] {
                let url = "test://show/" + String(repeating: "%01", count: count) + behind
                let id = try caller.open(url)
                if fits {
                    let call = try owner.expectCall("Login/show")
                    #expect(call.headerBytes.count + call.body.count + 4 <= Self.most)
                } else {
                    try caller.expectError(to: id, "bad-url", ran: "no")
                    try owner.expectNothing()
                }
            }
        }
    }
}
