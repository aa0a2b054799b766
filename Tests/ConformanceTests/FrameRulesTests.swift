import StrataCore
import TestSupport
import Testing

@testable import StrataConformance

/// The rules that the kit judges each frame of a client by.
struct FrameRulesTests {
    private static let hello: JSON = ["kind": "call", "id": 1, "to": "bus/hello"]

    private func rules(_ sent: JSON...) throws -> FrameRules {
        var rules = FrameRules()
        try rules.received(frame(Self.hello))
        rules.sent(["kind": "reply", "id": 1])
        for header in sent { rules.sent(header) }
        return rules
    }

    private func frame(_ header: JSON, body: String = "") -> ProbeFrame {
        ProbeFrame(headerBytes: header.encoded(), header: header, body: [UInt8](body.utf8))
    }

    private func finding(_ rules: FrameRules, _ frames: ProbeFrame...) -> Finding? {
        var rules = rules
        do throws(Finding) {
            for frame in frames { try rules.received(frame) }
            return nil
        } catch { return error }
    }

    @Test(.promise("K.1")) func theFirstFrameIsHello() {
        let found = finding(FrameRules(), frame(["kind": "call", "id": 1, "to": "Other/thing"]))
        #expect(found?.section == .session && found?.message == "the first frame must be a call to bus/hello")
    }

    @Test(.promise("K.1")) func aRequestHasOneFinalAnswer() throws {
        let rules = try rules(["kind": "call", "id": 40, "credit": 16])
        let (reply, error) = (
            frame(["kind": "reply", "id": 40]), frame(["kind": "error", "id": 40, "code": "failed"])
        )
        #expect(finding(rules, reply) == nil)
        for answers in [[reply, reply], [reply, error], [error, reply]] {
            #expect(finding(rules, answers[0], answers[1])?.message.hasPrefix("a second answer to 40") == true)
        }
        let unasked = finding(rules, frame(["kind": "reply", "id": 41]))
        #expect(unasked?.section == .kinds && unasked?.message.contains("wasn't asked") == true)
    }

    @Test(.promise("K.1")) func whatComesAfterACancelIsDropped() throws {
        var rules = try rules(["kind": "call", "id": 40, "credit": 0])
        rules.sent(["kind": "cancel", "id": 40])
        let part = frame(["kind": "reply", "id": 40, "more": true])
        #expect(finding(rules, part, frame(["kind": "reply", "id": 40]), frame(["kind": "reply", "id": 40])) == nil)
    }

    @Test(.promise("K.1")) func partsStayWithinTheCredit() throws {
        var rules = try rules(["kind": "call", "id": 40, "credit": 1])
        let part = frame(["kind": "reply", "id": 40, "more": true], body: "1")
        #expect(finding(rules, part) == nil)
        #expect(finding(rules, part, part)?.message.contains("beyond its credit") == true)
        rules.sent(["kind": "credit", "id": 40, "credit": 1])
        #expect(finding(rules, part, part, frame(["kind": "reply", "id": 40])) == nil)
        #expect(finding(rules, part, part, part)?.section == .calls)
        #expect(finding(rules, frame(["kind": "reply", "id": 40]), part)?.message.contains("second answer") == true)
    }

    @Test(.promise("K.1")) func aRequestsNumberIsUniqueAmongTheOpenOnes() throws {
        var rules = try rules()
        let call = frame(["kind": "call", "id": 5, "to": "Other/thing"])
        #expect(finding(rules, call, call)?.message.contains("in use") == true)
        try rules.received(call)
        rules.sent(["kind": "reply", "id": 5, "more": true])
        #expect(finding(rules, call) != nil)
        rules.sent(["kind": "reply", "id": 5])
        #expect(finding(rules, call) == nil)
        for kind in ["call", "open", "report"] {
            let found = finding(rules, frame(["kind": .string(kind), "to": "A/b", "url": "a://b", "name": "n"]))
            #expect(found?.message == "a \(kind) needs an id from 1 to 2^53 - 1")
        }
    }

    @Test(.promise("K.1")) func aParentIsACallThatTheClientGot() throws {
        let rules = try rules(["kind": "call", "id": 40, "credit": 0])
        #expect(finding(rules, frame(["kind": "call", "id": 5, "to": "A/b", "parent": 40])) == nil)
        let found = finding(rules, frame(["kind": "call", "id": 5, "to": "A/b", "parent": 41]))
        #expect(found?.section == .calls && found?.message.contains("41") == true)
    }

    @Test(.promise("K.1")) func headersAreReadAsTheBrokerReadsThem() throws {
        let rules = try rules()
        for header: JSON in [["kind": "call", "id": "5"], ["id": 5], ["kind": "call", "id": 5, "meta": 3]] {
            #expect(finding(rules, frame(header))?.section == .header, "\(header)")
        }
        #expect(finding(rules, frame(["kind": "notice", "name": "n"]))?.section == .kinds)
        #expect(finding(rules, frame(["kind": "brandNew"]))?.section == .kinds)
    }

    @Test(.promise("K.1")) func framesStayWithinTheLimits() throws {
        var rules = try rules()
        rules.limits = FrameLimits(frame: 200, header: 100)
        let header: JSON = ["kind": "broadcast", "name": "n"]
        let room = 200 - 4 - header.encoded().count
        #expect(finding(rules, frame(header, body: String(repeating: "1", count: room))) == nil)
        #expect(finding(rules, frame(header, body: String(repeating: "1", count: room + 1)))?.section == .frame)
        let long: JSON = ["kind": "broadcast", "name": .string(String(repeating: "n", count: 90))]
        #expect(finding(rules, frame(long))?.section == .frame)
    }

    @Test(.promise("K.1")) func aBodyIsJSON() throws {
        let rules = try rules()
        for body in ["{", "{\"a\":1,\"a\":2}", "1 2"] {
            #expect(
                finding(rules, frame(["kind": "broadcast", "name": "n"], body: body))?.message == "the body isn't JSON")
        }
    }

    @Test(.promise("K.1")) func aNotificationHasAName() throws {
        let rules = try rules()
        #expect(finding(rules, frame(["kind": "broadcast", "name": ""])) != nil)
        let long = JSON.string(String(repeating: "n", count: 257))
        #expect(finding(rules, frame(["kind": "report", "id": 3, "to": "Log", "name": long])) != nil)
    }

    @Test(.promise("K.1")) func aCancelIsOfARequestThatWasMade() throws {
        let rules = try rules()
        #expect(finding(rules, frame(["kind": "cancel", "id": 9]))?.section == .kinds)
        #expect(
            finding(rules, frame(["kind": "call", "id": 9, "to": "A/b"]), frame(["kind": "cancel", "id": 9])) == nil)
    }
}
