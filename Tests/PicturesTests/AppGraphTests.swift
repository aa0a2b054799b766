import StrataCore
import StrataOperator
import TestSupport
import Testing

@testable import StrataPictures

/// A table's declarations, as edges.
struct AppGraphTests {
    @Test func callsBroadcastsAndReportsAreDrawnUp() {
        let graph = AppGraph(Apps.five)
        #expect(
            graph.edges.map(graph.sentence) == [
                "Session calls Store", "Notes calls Store", "Notes calls NoteLogin of Session", "Finder calls Notes",
                "Store broadcasts store.changed to Notes", "Session broadcasts session.ended to Notes",
                "Session reports log.line to Log", "Notes reports log.line to Log", "Notes reports log.error to Log",
            ])
        #expect(graph.remarks.isEmpty)
    }

    @Test func whatLeadsNowhereIsRemarked() {
        var table = Apps.five
        table.modules[1].requires = ["Nobody"]
        table.modules[1].reports = [.init(module: "Nowhere", names: ["x"])]
        table.modules[4].broadcasts = ["found"]
        let graph = AppGraph(table)
        #expect(
            graph.remarks == [
                "Log requires Nobody, which no row provides.", "Log reports to Nowhere, which is in no row.",
            ])
        #expect(graph.modules[4].unheard == ["found"])
        #expect(graph.edges.count == AppGraph(Apps.five).edges.count)
    }

    @Test func broadcastsReachLaterLevelsOnly() {
        var table = Apps.five
        table.modules[1].observes = [.init(name: "store.changed"), .init(name: "session.ended")]
        #expect(AppGraph(table).edges == AppGraph(Apps.five).edges)
    }

    @Test(.promise("M.168")) func aPatternsObserverGetsEachBroadcastThatItMatches() {
        var table = Apps.five
        table.modules[4].observes = [.init(name: "*.ended", isPattern: true), .init(name: "store.>", isPattern: true)]
        let added = Set(AppGraph(table).edges.map(AppGraph(table).sentence))
            .subtracting(AppGraph(Apps.five).edges.map(AppGraph(Apps.five).sentence))
        #expect(
            added == ["Store broadcasts store.changed to Finder", "Session broadcasts session.ended to Finder"])
    }

    @Test func chainsOfAdaptersAreFollowedUntilARowProvides() {
        var table = Apps.five
        var chained = AppTable.Adapter(name: "Entry", to: "NoteLogin")
        chained.notices = [.init(from: "note.left", to: "entry.left")]
        table.adapters.append(chained)
        table.modules[4].requires = ["Entry"]
        table.modules[4].observes = [.init(name: "entry.left")]
        let graph = AppGraph(table)
        #expect(graph.edges.map(graph.sentence).contains("Finder calls Entry of Session"))
        #expect(graph.edges.map(graph.sentence).contains("Session broadcasts session.ended to Finder"))
        table.modules[1].provides = ["NoteLogin"]
        let beaten = AppGraph(table)
        #expect(beaten.edges.map(beaten.sentence).contains("Finder calls Entry of Log"))
        // It keeps its own notices' names.
        #expect(!beaten.edges.map(beaten.sentence).contains("Session broadcasts session.ended to Notes"))
    }

    @Test func whatWasSeenIsCountedAndWhatNobodyDeclaredIsAdded() throws {
        var graph = AppGraph(Apps.five)
        var traffic = SeenTraffic(
            levels: [
                "levels": [
                    ["modules": ["Store", "Log"]], ["modules": ["Session"]], ["modules": ["Notes", "Finder", "Guest"]],
                ]
            ],
            interfaces: [InterfaceRow]([
                "interfaces": [
                    ["name": "Store", "module": "Store"], ["name": "Session", "module": "Session"],
                    ["name": "Cart", "module": "Guest"],
                ]
            ]))
        let frames: [JSON] = [
            // After an adapter, the provider's name is seen.
            ["kind": "call", "from": "Notes", "to": "Session/who"],
            ["kind": "call", "from": "Notes", "to": "Store/get"],
            ["kind": "call", "from": "Notes", "to": "Store/put", "missed": 3],
            ["kind": "call", "from": "Session", "to": "Cart#12/add"],
            ["kind": "call", "from": "Session", "to": "Store/get", "code": "level-violation"],
            ["kind": "call", "from": "operator", "to": "Store/get"],
            ["kind": "call", "from": "bus", "to": "module/setUp"],
            ["kind": "reply", "from": "Store", "to": "Notes"],
            ["kind": "report", "from": "Notes", "to": "Log", "name": "log.line"],
            // The report's own notice, which goes up.
            ["kind": "notice", "from": "Notes", "to": "Log", "name": "log.line"],
            ["kind": "broadcast", "from": "Session", "to": "", "name": "session.ended"],
            ["kind": "notice", "from": "Session", "to": "Notes", "name": "note.left"],
            ["kind": "notice", "from": "Store", "to": "Finder", "name": "store.changed"],
        ]
        for frame in frames { traffic.note(frame) }
        graph.add(traffic, watchedFor: 5_000)
        let seen = graph.edges.filter { $0.seen != 0 }.map(graph.sentence)
        #expect(
            seen == [
                "Notes calls Store; seen 2 times", "Notes calls NoteLogin of Session; seen 1 time",
                "Session broadcasts session.ended to Notes; seen 1 time", "Notes reports log.line to Log; seen 1 time",
                "Store broadcasts store.changed to Finder, undeclared; seen 1 time",
                "Session calls Cart of Guest, undeclared; seen 1 time",
            ])
        #expect(graph.edges.count(where: { $0.seen == 0 }) == 5)
        let guest = try #require(graph.modules.last)
        #expect(guest.name == "Guest" && guest.rank == 2 && !guest.isListed)
        #expect(graph.remarks == ["3 frames were missed: the counts are too small."])
    }

    @Test(.promise("M.66")) func opensAreOfThePatternThatTheyMatched() throws {
        var table = Apps.five
        table.modules[3].urls = [.init(host: "note", path: "/:name", to: "Notes/show")]
        var graph = AppGraph(table)
        #expect(graph.modules[3].urls == ["note/:name"])
        #expect(graph.edges == AppGraph(Apps.five).edges)
        var traffic = SeenTraffic(
            levels: [
                "levels": [["modules": ["Store", "Log"]], ["modules": ["Session"]], ["modules": ["Notes", "Finder"]]]
            ],
            interfaces: [InterfaceRow]([
                "interfaces": [
                    [
                        "name": "Notes", "module": "Notes",
                        "urls": [["host": "note", "path": "/:name", "to": "Notes/show"]],
                    ]
                ]
            ]))
        for url in ["five://note/a", "FIVE://Note/b?c=d", "five://late/x"] {
            traffic.note([
                "kind": "call", "from": "Finder", "to": "Notes/show", "callee": "Notes", "url": .string(url),
            ])
        }
        traffic.note([
            "kind": "call", "from": "operator", "to": "Notes/show", "callee": "Notes", "url": "five://note/a",
        ])
        traffic.note(["kind": "open", "from": "Finder", "to": "five://nope/a", "code": "unknown-host"])
        graph.add(traffic, watchedFor: 1_000)
        // Opens of URLs can't be declared.
        #expect(
            graph.edges.filter { $0.seen != 0 }.map(graph.sentence) == [
                "Finder opens late of Notes; seen 1 time", "Finder opens note/:name of Notes; seen 2 times",
            ])
        let svg = GraphSVG.text(of: graph)
        #expect(svg.contains("opens a URL") && svg.contains(">note/:name<"))
        #expect(GraphDOT.text(of: graph).contains("arrowhead=dot"))
        #expect(GraphMermaid.text(of: graph).contains("--o|"))
        #expect(!GraphSVG.text(of: AppGraph(Apps.five)).contains("URL"))
    }

    @Test func differentTrafficIsKeptApartUpToABound() {
        var traffic = SeenTraffic(
            levels: ["levels": [["modules": ["Ant", "Bee"]]]], interfaces: [])
        for number in 0..<SeenTraffic.most + 2 {
            traffic.note(["kind": "report", "from": "Bee", "to": "Ant", "name": .string("n\(number)")])
        }
        #expect(traffic.counts.count == SeenTraffic.most)
        #expect(traffic.missed == 2)
    }
}
