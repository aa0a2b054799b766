import Testing

@testable import StrataBus

/// A module's life: each pair of state and event is listed as legal or not.
struct ModuleLifeTests {
    static let states: [ModuleLife] =
        ModuleLife.Absence.Process.allCases.map { .away(.init(process: $0)) }
        + ModuleLife.Step.allCases.map { .live($0) } + ModuleLife.Step.allCases.map { .ending($0) }
        + [.retired(.init(wasReady: true)), .retired(.init(wasReady: false))]

    static let events: [ModuleLife.Event] =
        [.joined(resumed: false), .joined(resumed: true), .wasRetired(isIdle: false), .appEnded, .stopIsOver]
        + ModuleLife.Step.allCases.map { .began($0) } + ModuleLife.Step.allCases.map { .reached($0) }
        + ModuleLife.Step.allCases.map { .wasSucceeded(at: $0) }
        + ModuleLife.Absence.Process.allCases.map { .processIs($0) } + [.sessionEnded(.absent, isForGood: false)]

    @Test func aStartGoesThroughItsSteps() {
        var life = ModuleLife.away(.init(process: .starting))
        let way: [(ModuleLife.Event, String)] = [
            (.joined(resumed: false), "starting"), (.began(.settingUp), "settingUp"), (.reached(.setUp), "setUp"),
            (.began(.initializing), "initializing"), (.reached(.initialized), "ready"), (.began(.started), "ready"),
            (.reached(.started), "ready"), (.wasRetired(isIdle: true), "stopping"),
            (.sessionEnded(.absent, isForGood: false), "absent"),
        ]
        for (event, word) in way {
            life.take(event)
            #expect(life.word == word)
        }
        #expect(life == .away(.init(wasStopped: true)))
    }

    @Test func requestsReachItFromInitializedOnUntilItIsRetired() {
        for state in Self.states {
            switch state {
            case .live(let step), .ending(let step): #expect(state.isReady == (step >= .initialized))
            case .away, .retired: #expect(!state.isReady)
            }
        }
    }

    @Test func anAnswerThatComesWhileItTearsDownChangesNothing() {
        for life in [ModuleLife.retired(.init(wasReady: false)), .ending(.settingUp)] {
            #expect(life.after(.reached(.setUp)) == life)
        }
    }

    @Test func stoppedModulesAreDistinguishedFromDeadOnes() {
        let stopped = ModuleLife.retired(.init(wasReady: true)).after(.sessionEnded(.absent, isForGood: true))
        #expect(stopped == .away(.init(wasStopped: true)), "a stop is no death")
        let died = ModuleLife.live(.started).after(.sessionEnded(.restarting, isForGood: true))
        #expect(died == .away(.init(process: .restarting, diedForGood: true)))
        #expect(died?.after(.processIs(.failed)) == .away(.init(process: .failed, diedForGood: true)))
        #expect(stopped?.after(.stopIsOver) == .away(.init()))
    }

    @Test func onlyAStepThatWasCalledIsReached() {
        for step in ModuleLife.Step.allCases {
            for reached in ModuleLife.Step.allCases {
                let isLegal: Bool =
                    switch (step, reached) {
                    case (.settingUp, .setUp), (.initializing, .initialized), (.started, .started): true
                    default: false
                    }
                #expect((ModuleLife.live(step).after(.reached(reached)) != nil) == isLegal, "\(step), \(reached)")
            }
        }
    }
}
