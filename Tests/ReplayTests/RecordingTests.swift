import StrataCore
import TestSupport
import Testing

@testable import StrataReplay

/// What a recording says of one module: which frames it got, sent and answered, and by which process.
struct RecordingTests {
    /// Returns what a recording of these frames says of `Notes`.
    private func recording(_ frames: String...) -> ModuleRecording {
        var recording = ModuleRecording(of: "Notes")
        for frame in frames {
            let isOne = recording.add(Array(frame.utf8))
            #expect(isOne, "\(frame)")
        }
        return recording
    }

    /// The steps in short.
    private func steps(_ recording: ModuleRecording, life: Int = 0) -> [String] {
        recording.lives[life].steps.map { step in
            switch step.step {
            case .ask(let index): "ask \(index)"
            case .answered(let index): "answered \(index)"
            case .withdraw(let index): "withdraw \(index)"
            case .own(let index): "own \(index)"
            case .answer(let index, let answer): "answer \(index) \(answer.shown)"
            case .notice(let frame): "notice \(frame.name)"
            case .noticeAnswered(let answer): "notice answered \(answer.shown)"
            case .end(let reason): "end \(reason)"
            }
        }
    }

    /// What the launcher says of a module's process.
    private static func state(_ members: String, of module: String = "Notes") -> String {
        #"{"kind":"call","from":"launcher","to":"bus/moduleState","callee":"bus","bytes":9,"#
            + #""body":{"module":"\#(module)",\#(members)}}"#
    }

    @Test(.promise("M.167")) func callsAnswersAndRequestsArePutTogetherByNumber() {
        let found = recording(
            #"{"kind":"recording","app":"shop","bodies":true,"at":1}"#,
            #"{"kind":"call","from":"Cart","to":"Notes/add","callee":"Notes","id":1,"bytes":1,"body":1,"at":2}"#,
            #"{"kind":"call","from":"Cart","to":"Notes/list","callee":"Notes","id":2,"bytes":0,"at":3}"#,
            #"{"kind":"call","from":"Notes","to":"Store/put","callee":"Store","id":3,"bytes":1,"body":2}"#,
            #"{"kind":"reply","from":"Notes","to":"Cart","id":2,"more":true,"bytes":1,"body":7}"#,
            #"{"kind":"reply","from":"Notes","to":"Cart","id":2,"bytes":0}"#,
            #"{"kind":"error","from":"Store","to":"Notes","id":3,"code":"Store.full","bytes":1,"body":8}"#,
            #"{"kind":"error","from":"Notes","to":"Cart","id":1,"code":"failed","bytes":0}"#,
            // Not of this module.
            #"{"kind":"call","from":"Cart","to":"Store/put","callee":"Store","id":4,"bytes":1,"body":2}"#,
            #"{"kind":"reply","from":"Store","to":"Cart","id":4,"bytes":1,"body":2}"#,
            // Never sent to it.
            #"{"kind":"call","from":"Cart","to":"Notes/secret","callee":"Notes","code":"forbidden","bytes":0}"#)
        #expect(found.app == "shop" && found.modules == ["Cart", "Notes", "Store"] && found.obstacle == nil)
        #expect(
            steps(found) == [
                "ask 0", "ask 1", "own 0", "answered 1", "answered 1", "answer 0 error Store.full 8", "answered 0",
            ])
        #expect(found.lives[0].asks[1].answers.map(\.shown) == ["partial reply 7", "reply"])
        #expect(found.lives[0].asks[0].answers.map(\.shown) == ["error failed"])
    }

    @Test(.promise("M.167")) func answersOfTheBusHaveNoNumberAndGoToWhatTheyFit() {
        let found = recording(
            #"{"kind":"reply","from":"bus","to":"Notes","bytes":9,"body":{"subscriptions":[1],"features":[]}}"#,
            #"{"kind":"call","from":"Notes","to":"bus/modules","callee":"bus","bytes":0}"#,
            #"{"kind":"broadcast","from":"Notes","to":"","name":"a","bytes":0}"#,
            #"{"kind":"broadcast","from":"Notes","to":"","name":"b","bytes":0}"#,
            #"{"kind":"reply","from":"bus","to":"Notes","bytes":9,"body":{"recipients":2}}"#,
            #"{"kind":"report","from":"Notes","to":"Store","name":"r","bytes":0}"#,
            #"{"kind":"reply","from":"bus","to":"Notes","bytes":9,"body":{"modules":[]}}"#,
            #"{"kind":"reply","from":"bus","to":"Notes","bytes":9,"body":{"observers":1}}"#,
            #"{"kind":"report","from":"Notes","to":"Store","name":"s","code":"level-violation","bytes":0}"#,
            #"{"kind":"notice","from":"Store","to":"Notes","name":"up","via":"report","bytes":0}"#,
            #"{"kind":"reply","from":"Notes","to":"bus","bytes":0}"#)
        #expect(
            steps(found) == [
                "own 0", "own 1", "own 2", #"answer 2 reply {"recipients":2}"#, "own 3",
                #"answer 0 reply {"modules":[]}"#, #"answer 3 reply {"observers":1}"#, "own 4",
                "answer 4 error level-violation", "notice up", "notice answered reply",
            ])
    }

    @Test(.promise("M.167")) func eachStartBeginsALifeAndADeathEndsOne() {
        let found = recording(
            #"{"kind":"call","from":"A","to":"Notes/x","callee":"Notes","id":1,"bytes":0}"#,
            #"{"kind":"reply","from":"Notes","to":"A","id":1,"bytes":0}"#,
            #"{"kind":"call","from":"bus","to":"module/setUp","callee":"Notes","id":2,"bytes":2,"body":{}}"#,
            #"{"kind":"call","from":"A","to":"Notes/x","callee":"Notes","id":3,"bytes":0}"#,
            #"{"kind":"call","from":"A","to":"Notes/y","callee":"Notes","id":4,"bytes":0}"#,
            #"{"kind":"error","from":"bus","to":"A","id":4,"code":"cancelled","bytes":0}"#,
            #"{"kind":"error","from":"bus","to":"A","id":3,"code":"died","bytes":0}"#,
            Self.state(#""state":"restarting","reason":"signal 6""#),
            #"{"kind":"call","from":"bus","to":"module/setUp","callee":"Notes","id":5,"bytes":2,"body":{}}"#,
            Self.state(#""state":"restarting","asked":true"#),
            Self.state(#""state":"failed""#, of: "Other"))
        #expect(found.lives.map(\.hasStart) == [false, true, true])
        #expect(found.lives.map(\.end) == [nil, "it died", nil])
        #expect(steps(found, life: 1) == ["ask 0", "ask 1", "ask 2", "withdraw 2", "end it died"])
        let silent = recording(
            #"{"kind":"call","from":"bus","to":"module/setUp","callee":"Notes","id":5,"bytes":2,"body":{}}"#,
            Self.state(#""state":"failed","reason":"exit code 3""#))
        #expect(silent.lives.map(\.end) == ["exit code 3"])
    }

    /// The parts of a hello come before setUp, and belong to the new process.
    @Test(.promise("M.167")) func aLifeBeginsWithHello() {
        let hello = #"{"kind":"reply","from":"bus","to":"Notes","bytes":9,"body":{"subscriptions":[],"features":[]}}"#
        let register = #"{"kind":"call","from":"Notes","to":"bus/register","callee":"bus","bytes":0}"#
        let call = #"{"kind":"call","from":"A","to":"Notes/x","callee":"Notes","id":1,"bytes":0}"#
        let own = #"{"kind":"call","from":"Notes","to":"Store/x","callee":"Store","id":2,"bytes":0}"#
        let setUp = #"{"kind":"call","from":"bus","to":"module/setUp","callee":"Notes","id":3,"bytes":0}"#
        #expect(recording(hello, register, setUp).lives.map(\.hasStart) == [true])
        let again = recording(call, hello, register, setUp)
        #expect(again.lives.map(\.hasStart) == [false, true])
        #expect(steps(again) == ["ask 0"] && steps(again, life: 1) == ["own 0", "ask 0"])
        // One that connected again has no start.
        let back = recording(
            call, own, hello, register, call, own, #"{"kind":"reply","from":"Store","to":"Notes","id":2}"#)
        #expect(
            steps(back) == [
                "ask 0", "own 0", "own 1", "ask 1", "own 2", "answer 2 reply (its body isn't in the recording)",
            ])
    }

    @Test(.promise("M.167")) func anErrorWithoutNumberIsAReportsIfNoCallWaits() {
        let report = #"{"kind":"report","from":"Notes","to":"Store","name":"r","bytes":0}"#
        let error = #"{"kind":"error","from":"bus","to":"Notes","code":"failed","bytes":0}"#
        #expect(steps(recording(report, error)) == ["own 0", "answer 0 error failed"])
    }

    @Test(.promise("M.167")) func numbersOfAHostileFileDoNotOverflow() {
        let frame = #"{"kind":"reply","from":"A","to":"B","at":-9223372036854775808,"missed":9223372036854775807}"#
        #expect(recording(frame, frame).missed == 1 << 50)
    }

    @Test(.promise("M.167")) func numbersBeginAnewWithEachBroker() {
        let found = recording(
            #"{"kind":"call","from":"A","to":"Notes/x","callee":"Notes","id":1,"bytes":0}"#,
            #"{"kind":"recording","app":"shop","bodies":true}"#,
            #"{"kind":"reply","from":"Notes","to":"B","id":1,"bytes":0}"#)
        #expect(steps(found) == ["ask 0"])
    }

    @Test(.promise("M.167")) func whatCannotBePlayedIsSaid() {
        let obstacle = recording(#"{"kind":"recording","app":"shop","bodies":false}"#).obstacle
        #expect(obstacle?.contains("--no-bodies") == true)
        let other = recording(#"{"kind":"call","from":"A","to":"Note/x","callee":"Note","id":1,"bytes":0}"#)
        #expect(other.obstacle == "no frame went to or came from Notes: did you mean Note?")
        var missing = recording(#"{"kind":"call","missed":12,"from":"A","to":"Note/x","id":1,"bytes":0}"#)
        #expect(missing.missed == 12)
        for text in ["[]", "{", "7"] {
            let isOne = missing.add(Array(text.utf8))
            #expect(!isOne, "\(text)")
        }
    }

    @Test(.promise("M.167")) func whoCreatesAnInstanceIsKnown() {
        let found = recording(
            #"{"kind":"call","from":"Login","to":"bus/create","callee":"bus","bytes":9,"body":{"interface":"Cart"}}"#,
            #"{"kind":"call","from":"bus","to":"module/create","callee":"Notes","id":1,"bytes":9,"body":{"instance":"Cart#3"}}"#
        )
        #expect(found.lives[0].asks.first?.creator == "Login")
    }
}
