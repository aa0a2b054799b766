import StrataTesting
import TestSupport
import Testing

@testable import StrataBus

/// The diagrams of docs/architecture.md match the state machines.
struct DiagramTests {
    /// `from --event--> to` for each legal pair.
    typealias Lines = Set<String>

    @Test func aConnectionsDiagramMatchesThePage() throws {
        func name(_ life: PeerLife) -> String {
            switch life {
            case .open(.read): "open"
            case .open: "unread"
            case .greeting, .waitingForVouch, .ending, .closed: "\(life)"
            }
        }
        let lines = legal(PeerLifeTests.states, PeerLifeTests.events, { $0.after($1) }, name) { event in
            if case .paused = event { "paused" } else { "\(event)" }
        }
        try compare(lines, with: "**A connection**")
    }

    @Test func aRequestsDiagramMatchesThePage() throws {
        var kinds: [String: Set<RequestLife.Kind>] = [:]
        for state in RequestLifeTests.states {
            for event in RequestLifeTests.events {
                guard let next = state.after(event) else { continue }
                let word: String =
                    switch event {
                    case .opened: "opened"
                    case .held, .released, .sent, .ended: "\(event)"
                    }
                kinds["\(state.state) --\(word)--> \(next.state)", default: []].insert(next.kind)
            }
        }
        // The kinds that can be in each state. The page names them only if not all can be.
        let lines = kinds.map { line, kinds -> String in
            let isForSome = line.contains("--held-->") || line.contains("--released-->") || line.contains("--sent-->")
            return isForSome ? "\(line): \(kinds.map { "\($0)" }.sorted().joined(separator: ", "))" : line
        }
        #expect(kinds["free --opened--> inside"] == Set(RequestLife.Kind.allCases))
        try compare(Set(lines), with: "**A request**")
    }

    @Test func aModulesDiagramMatchesThePage() throws {
        func name(_ life: ModuleLife) -> String {
            switch life {
            case .away: "away"
            case .live(let step): "\(step)"
            case .retired: "retired"
            case .ending: "ending"
            }
        }
        let lines = legal(ModuleLifeTests.states, ModuleLifeTests.events, { $0.after($1) }, name) { event in
            switch event {
            case .joined(let resumed): resumed ? "resumed" : "joined"
            case .began(let step): "began \(step)"
            case .reached(let step): "reached \(step)"
            case .wasSucceeded(let step): "wasSucceeded at \(step)"
            case .wasRetired: "wasRetired"
            case .appEnded: "appEnded"
            case .sessionEnded: "sessionEnded"
            case .processIs: "processIs"
            case .stopIsOver: "stopIsOver"
            }
        }
        try compare(lines, with: "**A module**")
    }

    @Test func aNodesDiagramMatchesThePage() throws {
        let lines = legal(NodeLifeTests.states, NodeLife.Event.allCases, { $0.after($1) }, \.word) { "\($0)" }
        try compare(lines, with: "**Another node**")
    }

    private func legal<State, Event>(
        _ states: [State], _ events: [Event], _ after: (State, Event) -> State?, _ name: (State) -> String,
        _ word: (Event) -> String
    ) -> Lines {
        var lines: Lines = []
        for state in states {
            for event in events {
                if let next = after(state, event) { lines.insert("\(name(state)) --\(word(event))--> \(name(next))") }
            }
        }
        return lines
    }

    private func compare(_ lines: Lines, with heading: String) throws {
        let page = try Repository.lines("docs/architecture.md").drop { $0 != "## The machines" }
        let start = try #require(page.firstIndex { $0.hasPrefix(heading) })
        let diagram = page[start...].dropFirst().drop { !$0.hasPrefix("    ") }.prefix { $0.hasPrefix("    ") }
        let told = Set(diagram.flatMap { Self.expanded($0.trimmingCharacters(of: " ")) })
        #expect(told.subtracting(lines).isEmpty, "the machine has them not")
        #expect(lines.subtracting(told).isEmpty, "the page has them not")
    }

    /// Expands a line of the page into one line for each pair of state and event that it stands
    /// for.
    private static func expanded(_ line: String) -> [String] {
        let parts = line.split(separator: "--", maxSplits: 1).flatMap { $0.split(separator: "--> ", maxSplits: 1) }
            .map { $0.trimmingCharacters(of: " ") }
        guard parts.count == 3 else { return [line] }
        let steps = ModuleLife.Step.allCases.map { "\($0)" }
        let froms = parts[0].split(separator: ", ").flatMap { $0 == "LIVE" ? steps : [String($0)] }
        return froms.flatMap { from in
            parts[1].split(separator: ", ").flatMap { event -> [String] in
                switch parts[2] {
                case "same": ["\(from) --\(event)--> \(from)"]
                case "LIVE": steps.map { "\(from) --\(event) at \($0)--> \($0)" }
                case let to: ["\(from) --\(event)--> \(to)"]
                }
            }
        }
    }
}

extension StringProtocol {
    /// Returns the text without the characters at both ends.
    fileprivate func trimmingCharacters(of character: Character) -> String {
        String(drop { $0 == character }.reversed().drop { $0 == character }.reversed())
    }
}
