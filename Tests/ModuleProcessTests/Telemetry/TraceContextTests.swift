import Testing

@testable import Strata

struct TraceContextTests {
    private static let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test func aTraceparentIsReadAndWrittenAsItWas() throws {
        let place = try #require(TraceContext(Array(Self.good.utf8)))
        #expect(place.traceparent == Self.good)
        #expect(place.traceID == "4bf92f3577b34da6a3ce929d0e0e4736" && place.spanID == "00f067aa0ba902b7")
        #expect(place.isSampled)
        #expect(TraceContext(Array(Self.good.dropLast().utf8) + [0x30])?.isSampled == false)
    }

    @Test func aChildIsOfTheSameTrace() throws {
        let place = try #require(TraceContext(Array(Self.good.utf8)))
        let child = place.child()
        #expect(child.traceID == place.traceID && child.span != place.span && child.isSampled)
        let fresh = TraceContext()
        #expect(TraceContext(Array(fresh.traceparent.utf8)) == fresh && fresh.isSampled)
    }

    @Test(arguments: [
        "", "00-1-1-00", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01x",
        "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01x",
        "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473600f067aa0ba902b7---01",
    ])
    func whatIsNoneIsRefused(text: String) {
        #expect(TraceContext(Array(text.utf8)) == nil)
        #expect(TraceContext(json: Array("\"\(text)\"".utf8)) == nil)
    }

    @Test func aLaterVersionIsReadAsFarAsItIsKnown() throws {
        let later = "cc\(Self.good.dropFirst(2))-what-comes"
        #expect(TraceContext(Array(later.utf8))?.traceparent == Self.good)
        #expect(TraceContext(Array("cc\(Self.good.dropFirst(2))".utf8)) != nil)
    }

    @Test func escapesOfJSONAreRead() {
        #expect(TraceContext(json: Array("\"\\u0030\(Self.good.dropFirst())\"".utf8))?.traceparent == Self.good)
        #expect(TraceContext(json: Array("\"\(Self.good)\"".utf8))?.traceparent == Self.good)
    }
}
