import StrataCore
import Testing

@Suite(.timeLimit(.hang))
struct AppTableJSONTests {
    /// Returns a table in which no field has its default.
    static func full() -> AppTable {
        var table = AppTable(app: "moments")
        table.env = "debug"
        table.schemes = ["moments", "m2"]
        table.levels = ["one", "two"]
        table.settings = ["feed.page": 20]
        table.launchOptions = nil
        table.calls = .declared
        table.contracts = .enforced
        table.authorizer = "Session"
        table.guests = .init(rank: 1, most: 8)
        table.guests?.users = [7: 0, .max: 1]
        table.guests?.names = ["Probe": 1, "Tool": 0]
        table.operators = [7, .max]
        table.openableBy = .init(users: [7, 9], rank: 1)
        table.group = 12
        table.nodes = [.init("berlin", operates: true), .init("tokyo")]
        table.node = "tokyo"
        table.join = 4
        table.limits = limits()
        table.startup = 1
        table.hello = 2
        table.assembly = 3
        table.modules = [row(), .init(name: "Plain")]
        table.modules[1].placement = .everywhere
        var adapter = AppTable.Adapter(name: "NoteLogin", to: "Login")
        var action = AppTable.AdaptedAction(name: "show", to: "present")
        action.params = [.init(from: "message", to: "notifyString")]
        action.result = [.init(from: "ok", to: "done")]
        adapter.actions = [action]
        adapter.notices = [.init(from: "login.done", to: "note.loginFinished")]
        table.adapters = [adapter]
        return table
    }

    static func limits() -> AppTable.Limits {
        var limits = AppTable.Limits()
        (limits.frame, limits.header, limits.calls, limits.queue) = (1, 2, 3, 4)
        (limits.waiting, limits.observations, limits.interfaces, limits.urls) = (5, 6, 7, 8)
        (limits.instances, limits.connections, limits.unregistered) = (9, 10, 11)
        (limits.held, limits.adapted, limits.total, limits.depth) = (12, 13, 14, 15)
        limits.retained = 16
        limits.body = 17
        return limits
    }

    static func row() -> AppTable.Row {
        var row = AppTable.Row(name: "Storage~2")
        row.replica = ReplicaName(row: "Storage", number: 2)
        (row.rank, row.priority, row.start, row.restart, row.replace) = (1, -10, .onDemand, .never, .overlap)
        (row.stop, row.idle, row.ping, row.user, row.backoffReset) = (4, 5, 6, 65534, 7)
        row.pingRestarts = false
        row.provides = ["Storage"]
        row.requires = ["Log@2.1", "PlainRouter"]
        row.contracts = .off
        row.urls = [.init(host: "moments.store", path: "/dump", to: "Storage/dump", isPublic: true)]
        row.opens = [
            .init(scheme: "catalog", app: OtherApp(.name("catalog"), user: 7)),
            .init(scheme: "maps", app: OtherApp(.socket("/run/maps"))),
        ]
        row.observes = [.init(name: "a"), .init(name: "b", object: "o", keep: .latest)]
        row.broadcasts = ["storage.changed"]
        row.retained = .app
        row.reports = [.init(module: "Log", names: ["storage.full"])]
        row.emits = ["app.reload"]
        row.manages = ["Plain"]
        row.wakes = ["a", "app.suspend"]
        row.settings = [.init("feed.page", 10), .init("feed.title", nil)]
        row.secrets = [.init("feed.key", "hunter2")]
        (row.trusted, row.required) = (true, true)
        row.placement = .on(["tokyo", "berlin"])
        return row
    }

    @Test(.promise("M.3")) func everyFieldComesBack() throws {
        let table = Self.full()
        let text = table.json().description
        #expect(try AppTable(json: JSON(parsing: text)) == table)
        #expect(try AppTable(json: AppTable(app: "a").json()) == AppTable(app: "a"))
    }

    /// A field that is forgotten in both directions would pass the test above with its default.
    /// So here each stored property must make a member.
    @Test func eachStoredPropertyIsWritten() throws {
        let table = Self.full()
        func names(_ json: JSON?) -> Set<String> { Set(json?.object?.map(\.name) ?? []) }
        func properties(_ value: some Any) -> Set<String> {
            Set(Mirror(reflecting: value).children.compactMap(\.label))
        }
        let json = table.json()
        #expect(names(json) == properties(table))
        #expect(names(json["limits"]) == properties(table.limits))
        #expect(names(json["guests"]) == properties(table.guests!))  // because `full` has guests
        #expect(names(json["modules"]?.array?.first) == properties(table.modules[0]))
        #expect(names(json["adapters"]?.array?.first) == properties(table.adapters[0]))
    }

    /// A table's secret stands in no error, even if the table is broken.
    @Test(.promise("M.121")) func errorAboutASecretDoesNotQuoteIt() throws {
        for secrets in [#"{"key":["hunter2"]}"#, #"["hunter2"]"#, #""hunter2""#] {
            let json = try JSON(parsing: #"{"app":"a","modules":[{"name":"A","secrets":\#(secrets)}]}"#)
            let error = #expect(throws: AppTableError.self) { try AppTable(json: json) }
            #expect(
                error?.path.hasPrefix("modules[0].secrets") == true && error?.description.contains("hunter") == false)
        }
    }

    @Test(arguments: [
        (#"{"app":"a","contracts":"on"}"#, "contracts"),
        (#"{"app":"a","modules":[{"name":"A","requires":["B","C@2"]}]}"#, "modules[0].requires[1]"),
        ("[]", ""), ("{}", ""), (#"{"app":1}"#, "app"), (#"{"app":"a","x":1}"#, ""),
        (#"{"app":"a","limits":{"frame":-1}}"#, "limits.frame"),
        (#"{"app":"a","modules":[{"name":"A","rank":3}]}"#, "modules[0].rank"),
        (#"{"app":"a","guests":{"rank":0,"most":1,"users":[{"user":-1,"rank":0}]}}"#, "guests.users[0].user"),
        (#"{"app":"a","guests":{"rank":0,"most":1,"names":[{"name":"A","rank":3}]}}"#, "guests.names[0].rank"),
        (#"{"app":"a","modules":[{"name":"A"},{"name":"B","start":"x"}]}"#, "modules[1].start"),
    ])
    func errorsNameTheirPlace(_ text: String, _ path: String) throws {
        let json = try JSON(parsing: text)
        let error = #expect(throws: AppTableError.self) { try AppTable(json: json) }
        #expect(error?.path == path)
    }
}
