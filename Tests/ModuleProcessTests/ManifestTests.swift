import Glibc
import StrataCore
import StrataManifest
import TestSupport
import Testing

@Suite(.timeLimit(.hang))
struct ManifestTests {
    /// The example of the manifest's page, with the rows that it mentions, and with a user and a
    /// group that every system has.
    static let example = """
        app: moments                     # names the socket
        env: debug
        schemes: [moments]
        levels: [basic, middle, topout]
        settings: {feed.page: 20}
        launchOptions: {}
        calls: any
        authorizer: Session
        guests: {level: topout, most: 8, users: {nobody: middle}, names: {Probe: topout}}
        operators: [nobody]
        group: nogroup
        limits: {frame: 16MiB, header: 16KiB, calls: 1024, queue: 8MiB, waiting: 1024, observations: 1024,
                 interfaces: 256, urls: 1024, instances: 4096, connections: 4096, unregistered: 64,
                 held: 8MiB, adapted: 256KiB, total: 1GiB, depth: 32, retained: 1024}
        startup: 30s
        hello: 10s
        assembly: 60s
        modules:
          Storage:
            level: basic
            priority: 10
            run: [bin/storage, moments.sqlite]
            folder: .
            env: {TZ: UTC}
            keepEnv: [PATH, LANG]
            replace: wait
            user: nobody
            start: eager
            idle: 60s
            restart: on-failure
            backoff: {first: 100ms, most: 30s, reset: 60s}
            stop: 5s
            ping: 10s
            limits: {memory: 256MiB, files: 256, processes: 64}
            provides: [Storage]
            requires: []
            urls: {"moments.store/dump": Storage/dump}
            observes: [session.ended]
            broadcasts: [storage.changed]
            retained: session
            reports: {Log: [storage.full]}
            emits: [app.reload]
            manages: [Log, Login]
            trusted: false
            required: true
          Log:
          Login: {provides: [LoginRouter, Session], level: middle, start: on-demand, wakes: [storage.changed, app.suspend]}
        adapters:
          NoteLogin:
            to: Login
            actions:
              show: {to: present, params: {message: notifyString}, result: {ok: done}}
            notices: {login.done: note.loginFinished}
        """

    /// The table of limits on the manifest's page is made of the reader's own keys.
    @Test(.promise("13.41")) func thePagesLimitsAreTheReaders() throws {
        let page = try Repository.lines("docs/manifest.md")
        let rows = LimitKey.all.map(\.row)
        let table = rows.joined(separator: "\n")
        let start = try #require(page.firstIndex(of: rows[0]), "docs/manifest.md should have:\n\(table)")
        #expect(Array(page[start...].prefix { !$0.isEmpty }) == rows)
    }

    @Test(
        .promise("M.16"),
        arguments: [
            ("10s", 10_000, true), ("{every: 10s}", 10_000, true), ("{every: 1m, restart: false}", 60_000, false),
            ("{restart: true, every: 1ms}", 1, true),
        ])
    func pingIsATimeOrAMapping(text: String, every: UInt64, restarts: Bool) throws {
        let row = try load("app: a\nmodules: {A: {ping: \(text)}}").table.modules[0]
        #expect(row.ping == every && row.pingRestarts == restarts)
    }

    @Test(.promise("13.41", "I.9", "M.3", "M.9")) func thePagesExampleIsRead() throws {
        let manifest = try load(Self.example)
        var table = AppTable(app: "moments")
        table.env = "debug"
        table.schemes = ["moments"]
        table.settings = ["feed.page": 20]
        table.authorizer = "Session"
        table.guests = .init(rank: 2, most: 8)
        table.guests?.users = [65534: 1]
        table.guests?.names = ["Probe": 2]
        table.operators = [65534]
        table.group = 65534
        var storage = AppTable.Row(name: "Storage")
        (storage.priority, storage.idle, storage.ping, storage.user) = (10, 60_000, 10_000, 65534)
        storage.provides = ["Storage"]
        storage.urls = [.init(host: "moments.store", path: "/dump", to: "Storage/dump")]
        storage.observes = [.init(name: "session.ended")]
        storage.broadcasts = ["storage.changed"]
        storage.reports = [.init(module: "Log", names: ["storage.full"])]
        storage.emits = ["app.reload"]
        storage.manages = ["Log", "Login"]
        storage.required = true
        var log = AppTable.Row(name: "Log")
        log.start = .manual
        var login = AppTable.Row(name: "Login")
        (login.start, login.rank, login.provides) = (.onDemand, 1, ["Login", "Session"])
        login.wakes = ["storage.changed", "app.suspend"]
        table.modules = [storage, log, login]
        var show = AppTable.AdaptedAction(name: "show", to: "present")
        show.params = [.init(from: "message", to: "notifyString")]
        show.result = [.init(from: "ok", to: "done")]
        var adapter = AppTable.Adapter(name: "NoteLogin", to: "Login")
        adapter.actions = [show]
        adapter.notices = [.init(from: "login.done", to: "note.loginFinished")]
        table.adapters = [adapter]
        #expect(manifest.table == table)
        #expect(try AppTable(json: table.json()) == table)

        let process = manifest.processes[0]
        #expect(manifest.processes.map(\.name) == ["Storage", "Log", "Login"])
        #expect(process.run == ["bin/storage", "moments.sqlite"])
        #expect(process.executable == manifest.folder + "/bin/storage")
        #expect(process.folder == manifest.folder)
        #expect(process.env == ["TZ": "UTC"])
        #expect(process.keepEnv == ["PATH", "LANG"])
        #expect(process.user == "nobody")
        #expect((process.start, process.restart, process.replace) == (.eager, .onFailure, .wait))
        #expect((process.backoff.first, process.backoff.most, process.backoff.reset) == (100, 30_000, 60_000))
        #expect((process.stop, process.idle) == (5_000, 60_000))
        #expect(process.limits.memory == 256 << 20)
        #expect((process.limits.files, process.limits.processes) == (256, 64))
        #expect(manifest.processes[1].start == .manual)
        #expect(manifest.processes[1].executable == nil)
    }

    @Test(.promise("M.3")) func valuesOtherThanTheDefaultsAreRead() throws {
        let manifest = try load(
            """
            app: a
            levels: [one, two]
            calls: declared
            contracts: enforced
            settings: {n: null, f: 1.5, i: -3, h: 0x1F, s: "1", t: true, no: no, l: [1, {a: b}], big: 1e300}
            limits: {frame: 2MiB, header: 2KiB, calls: 1, queue: 2B, waiting: 3, observations: 4, interfaces: 5,
              urls: 6, instances: 7, connections: 17, unregistered: 8, held: 9, adapted: 10, total: 11, depth: 12,
              retained: 13}
            startup: 1ms
            hello: 2m
            assembly: 3h
            modules:
              A:
                level: two
                priority: -5
                run: [/bin/true, 7]
                folder: ../x
                start: on-demand
                restart: always
                replace: overlap
                backoff: {first: 1s}
                stop: 0s
                provides: [XrouTer, Router]
                requires: [B, CRouter, DRouter@2.1]
                contracts: off
                urls: {"Host.A/show/:tip/": XRouter/show, host.a: Router/root, "host.b/show/:x": X/show, "*/*all": X/show}
                observes: [n, {name: m, object: o, keep: latest}]
                retained: app
                trusted: true
              B: {run: [b], start: manual, restart: never, required: false}
              C: {start: async}
            adapters: {B: {to: C}, C: {to: X, actions: {go: {params: {a: b}}}}, X: {to: B}}
            """)
        let table = manifest.table
        #expect(table.levels == ["one", "two"])
        #expect(table.calls == .declared && table.contracts == .enforced)
        #expect(
            table.settings == [
                "n": nil, "f": 1.5, "i": -3, "h": 31, "s": "1", "t": true, "no": "no", "l": [1, ["a": "b"]],
                "big": 1e300,
            ])
        var limits = AppTable.Limits()
        (limits.frame, limits.header, limits.calls, limits.queue) = (2 << 20, 2 << 10, 1, 2)
        (limits.waiting, limits.observations, limits.interfaces, limits.urls) = (3, 4, 5, 6)
        (limits.instances, limits.connections, limits.unregistered) = (7, 17, 8)
        (limits.held, limits.adapted, limits.total, limits.depth, limits.retained) = (9, 10, 11, 12, 13)
        #expect(table.limits == limits)
        #expect((table.startup, table.hello, table.assembly) == (1, 120_000, 10_800_000))
        let row = table.modules[0]
        #expect((row.rank, row.priority, row.stop, row.trusted) == (1, -5, 0, true))
        #expect((row.start, row.restart, row.replace) == (.onDemand, .always, .overlap))
        #expect(row.provides == ["X", "Router"])
        #expect(row.requires == ["B", "C", "D@2.1"] && row.contracts == .off)
        #expect(
            row.urls == [
                .init(host: "host.a", path: "/show/:tip/", to: "X/show"),
                .init(host: "host.a", path: "/", to: "Router/root"),
                .init(host: "host.b", path: "/show/:x", to: "X/show"),
                .init(host: "*", path: "/*all", to: "X/show"),
            ])
        #expect(row.retained == .app)
        #expect(row.observes == [.init(name: "n"), .init(name: "m", object: "o", keep: .latest)])
        #expect(table.adapters.map(\.to) == ["C", "X", "B"])
        #expect(table.adapters[1].actions.first?.to == "go")
        let process = manifest.processes[0]
        #expect(process.executable == "/bin/true")
        #expect(process.run == ["/bin/true", "7"])
        #expect(process.folder == manifest.folder + "/../x")
        #expect((process.backoff.first, process.backoff.most) == (1_000, 30_000))
        #expect(table.modules.map(\.start) == [.onDemand, .manual, .async])
    }

    @Test(.promise("M.4")) func theEnvironmentOverridesEnv() throws {
        let text = "app: a\nenv: debug"
        #expect(try load(text).table.env == "debug")
        #expect(try load("app: a").table.env == "release")
        #expect(try load(text, environment: ["STRATA_ENV": "staging"]).table.env == "staging")
        #expect(try load(text, environment: ["STRATA_ENV": ""]).table.env == "debug")
        #expect(
            errors(text, environment: ["STRATA_ENV": "a b"]) == [#": env: expected a word in STRATA_ENV; found "a b""#])
    }

    @Test func anAliasStandsForItsValue() throws {
        let manifest = try load(
            "app: a\nmodules:\n  A: {run: [a], limits: &small {files: 9}}\n  B: {run: [b], limits: *small}")
        #expect(manifest.processes.map(\.limits.files) == [9, 9])
    }

    /// Loads text from `strata.yaml` in a new folder.
    private func load(_ text: String, environment: [String: String] = [:]) throws -> Manifest {
        try TemporaryManifest.load(Array(text.utf8), environment: environment)
    }

    private func errors(_ text: String, environment: [String: String] = [:]) -> [String] {
        TemporaryManifest.errors(Array(text.utf8), environment: environment)
    }

    @Test(.promise("M.110")) func otherAppsAndPublicURLsAreRead() throws {
        let text = """
            app: shop
            schemes: [shop]
            openableBy: {users: [root, nobody, root], level: middle}
            modules:
              Cart:
                provides: [Cart]
                urls: {"a/:id": {to: CartRouter/a, public: true}, b: {to: Cart/b}, c: Cart/c}
                opens:
                  Catalog: {app: catalog, user: nobody}
                  maps: {socket: /run/maps.sock}
              Other: {opens: {maps: {socket: /run/maps.sock}, old: {app: shop, user: nobody}}}
            """
        let table = try TemporaryManifest.load(Array(text.utf8)).table
        #expect(table.openableBy == .init(users: [0, 65534], rank: 1))
        #expect(
            table.modules[0].urls == [
                .init(host: "a", path: "/:id", to: "Cart/a", isPublic: true), .init(host: "b", path: "/", to: "Cart/b"),
                .init(host: "c", path: "/", to: "Cart/c"),
            ])
        #expect(
            table.modules[0].opens == [
                .init(scheme: "catalog", app: OtherApp(.name("catalog"), user: 65534)),
                .init(scheme: "maps", app: OtherApp(.socket("/run/maps.sock"))),
            ])
        #expect(table.otherApps.count == 3)
        #expect(try AppTable(json: table.json()) == table)
    }

}
