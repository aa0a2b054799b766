import StrataCore
import StrataOperator
import TestSupport
import Testing

/// Frames of a monitor, and the calls that they answer.
@Suite(.timeLimit(.hang))
struct SeenFrameTests {
    private func frame(_ json: String, _ calls: inout SeenCalls) throws -> SeenFrame {
        SeenFrame(try JSON(parsing: json), &calls)
    }

    @Test func anAnswerHasItsCallsActionAndHowLongItTook() throws {
        var calls = SeenCalls()
        let call = try frame(#"{"at":10,"kind":"call","from":"A","to":"Cart#1/add","id":7,"bytes":3}"#, &calls)
        #expect(call.receiver == "Cart" && call.action == "Cart#1/add" && call.plainAction == "Cart/add")
        #expect(call.took == nil && call.bytes == 3 && call.missed == 0)
        let reply = try frame(#"{"at":25,"kind":"reply","from":"B","to":"A","id":7,"missed":2}"#, &calls)
        #expect(reply.took == 15 && reply.action == "Cart#1/add" && reply.receiver == "A" && reply.missed == 2)
        // A refused call has no answer.
        _ = try frame(#"{"at":30,"kind":"call","from":"A","to":"B/c","id":8,"code":"forbidden"}"#, &calls)
        #expect(try frame(#"{"at":40,"kind":"reply","from":"B","to":"A","id":8}"#, &calls).took == nil)
    }

    /// A call is forgotten when 4,096 other calls came after it.
    @Test(.promise("M.78")) func onlySoManyCallsAreRemembered() throws {
        var calls = SeenCalls()
        for id in 0...4_096 { _ = try frame(#"{"at":\#(id),"kind":"call","from":"A","to":"B/c","id":\#(id)}"#, &calls) }
        let took = try [0, 1, 4_096].map {
            try frame(#"{"at":10000,"kind":"reply","from":"B","to":"A","id":\#($0)}"#, &calls).took
        }
        #expect(took == [nil, 9_999, 5_904])
    }
}
