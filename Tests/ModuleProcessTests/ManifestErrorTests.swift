import StrataManifest
import Testing

@Suite(.timeLimit(.hang))
struct ManifestErrorTests {
    @Test(.promise("M.1")) func allErrorsAreReportedInTheOrderOfLines() {
        let text = """
            app: moments
            authoriser: Login
            modules:
              Storage:
                restart: sometimes
                run: [a]
                run: [b]
            hello: 10
            """
        #expect(
            errors(text) == [
                ":2: authoriser: unknown key; did you mean authorizer?",
                #":5: modules.Storage.restart: expected always, on-failure or never; found "sometimes""#,
                ":7: modules.Storage.run: expected each key once; line 6 has it already",
                ":8: hello: expected a time such as 500ms, 30s, 5m or 1h, not zero; found 10",
            ])
        let described = try? Manifest.load(path: "/nowhere/strata.yaml", environment: [:])
        #expect(described == nil)
    }

    /// One or more lines in the app, and the beginning of its only error after the file's name.
    @Test(
        .promise("M.1", "M.29", "M.110"),
        arguments: [
            ("app: B", #":2: app: expected each key once"#),
            ("env: a b", #":2: env: expected a word; found "a b""#),
            ("env: [a]", ":2: env: expected a word; found a list"),
            ("env: 1", ":2: env: expected a word, in quotes if YAML takes it for a number or a boolean; found 1"),
            (
                "modules: {A: {observes: [true]}}",
                ":2: modules.A.observes[0]: expected a name of 1 to 256 bytes, in quotes if YAML takes it for a number or a boolean; found true"
            ),
            ("schemes: a", ":2: schemes: expected a list; found \"a\""),
            ("schemes: [1a]", ":2: schemes[0]: expected a URL scheme"),
            ("schemes: [a, A]", ":2: schemes[1]: expected each name once"),
            ("schemes: [é]", ":2: schemes[0]: expected a URL scheme"),
            ("levels: []", ":2: levels: expected at least one level"),
            ("levels: [a, a]", ":2: levels[1]: expected each name once"),
            ("settings: {a: .inf}", ":2: settings.a: expected a finite number; found .inf"),
            ("settings: {a: [.nan]}", ":2: settings.a[0]: expected a finite number"),
            ("settings: {a: 1, 'a': 2}", ":2: settings.a: expected each key once"),
            ("calls: some", ":2: calls: expected any, layered or declared; found \"some\""),
            ("calls:", ":2: calls: expected any, layered or declared; found nothing"),
            ("authorizer: X", ":2: authorizer: expected an interface that a row provides; found \"X\""),
            ("guests: {level: high, most: 1}", ":2: guests.level: expected basic, middle or topout; found \"high\""),
            ("guests: {level: basic, most: 0}", ":2: guests.most: expected an integer from 1"),
            ("guests: {level: basic}", ":2: guests: expected level and most; most is missing"),
            (
                "guests: {level: basic, most: 1, users: [root]}",
                ":2: guests.users: expected a mapping such as {ada: middle}"
            ),
            (
                "guests: {level: basic, most: 1, users: {no-such-user: middle}}",
                ":2: guests.users.no-such-user: expected a user of this system; found \"no-such-user\""
            ),
            (
                "guests: {level: basic, most: 1, users: {root: high}}",
                ":2: guests.users.root: expected basic, middle or topout"
            ),
            ("guests: {level: basic, most: 1, names: {bus: middle}}", ":2: guests.names.bus: expected a module's name"),
            (
                "guests: {level: basic, most: 1, names: {A: high}}",
                ":2: guests.names.A: expected basic, middle or topout"
            ),
            (
                "guests: {level: topout, most: 1, users: {root: middle}, names: {A: basic}}",
                ":2: guests.names.A: expected middle or a later level, because a name can only narrow a guest's level; "
                    + "found basic: name the user in users"
            ),
            (
                "guests: {level: basic, most: 1, names: {A: middle}}\nmodules: {A: }",
                ":2: guests.names.A: expected a name that no row has; A is a row, which has a level of its own"
            ),
            (
                "modules: {A: {manages: [A]}}",
                ":2: modules.A.manages[0]: expected another row; a module can't manage itself"
            ),
            (
                "modules: {A: {manages: [Sotrage]}, Storage: }",
                ":2: modules.A.manages[0]: expected a row of this manifest; found \"Sotrage\"; did you mean Storage?"
            ),
            ("modules: {A: {manages: [B, B]}, B: }", ":2: modules.A.manages[1]: expected each name once"),
            ("modules: {A: {manages: [1]}}", ":2: modules.A.manages[0]: expected a module's name"),
            (
                "modules: {A: {wakes: [x]}}",
                ":2: modules.A.wakes: expected start: on-demand beside wakes; found start: manual"
            ),
            ("modules: {A: {start: on-demand, wakes: [x, x]}}", ":2: modules.A.wakes[1]: expected each name once"),
            (
                "modules: {A: {start: on-demand, wakes: [app.moduleLost]}}",
                ":2: modules.A.wakes[0]: expected another event; app.moduleLost starts no module, because an end would cause a start"
            ),
            ("operators: [nobody]", ":2: operators: expected the key group"),
            ("openableBy: {users: [root]}", ":2: openableBy: expected users and level; level is missing"),
            ("openableBy: {level: basic}", ":2: openableBy: expected users and level; users is missing"),
            ("openableBy: {users: [], level: basic}", ":2: openableBy.users: expected at least one user"),
            (
                "openableBy: {users: [no-such-user], level: basic}",
                ":2: openableBy.users[0]: expected a user of this system"
            ),
            ("openableBy: {users: [root], level: high}", ":2: openableBy.level: expected basic, middle or topout"),
            (
                "modules: {M: {provides: [M], urls: {h/p: {public: true}}}}",
                ":2: modules.M.urls.h/p: expected the key to, an Interface/action"
            ),
            (
                "modules: {M: {provides: [M], urls: {h/p: {to: M/x, public: maybe}}}}",
                ":2: modules.M.urls.h/p.public: expected true or false"
            ),
            ("modules: {M: {opens: [c]}}", ":2: modules.M.opens: expected a mapping such as {catalog: {app: catalog}}"),
            ("modules: {M: {opens: {1c: {app: c}}}}", ":2: modules.M.opens.1c: expected a URL scheme"),
            ("modules: {M: {opens: {c: {}}}}", ":2: modules.M.opens.c: expected one of the keys app and socket"),
            (
                "modules: {M: {opens: {c: {app: c, socket: /c}}}}",
                ":2: modules.M.opens.c: expected one of the keys app and socket"
            ),
            ("modules: {M: {opens: {c: {app: C}}}}", ":2: modules.M.opens.c.app: expected 1 to 32 of a-z, 0-9 and -"),
            ("modules: {M: {opens: {c: {app: a}}}}", ":2: modules.M.opens.c.app: expected another app; a is this one"),
            ("modules: {M: {opens: {c: {socket: c.sock}}}}", ":2: modules.M.opens.c.socket: expected an absolute path"),
            ("modules: {M: {opens: {c: {app: c, user: no-such-user}}}}", ":2: modules.M.opens.c.user: expected a user"),
            (
                "schemes: [c]\nmodules: {M: {opens: {C: {app: c}}}}",
                ":3: modules.M.opens.C: expected another app's scheme; c is in this app's schemes"
            ),
            (
                "modules: {M: {opens: {c: {app: c}}}, N: {opens: {c: {app: d}}}}",
                ":2: modules.N.opens.c: expected one app for a scheme; M opens c at app:c"
            ),
            ("group: nogroup\noperators: [no-such-user]", ":3: operators[0]: expected a user of this system"),
            ("group: no-such-group", ":2: group: expected a group of this system; found \"no-such-group\""),
            ("limits: {frame: 16MB}", ":2: limits.frame: expected a size such as"),
            ("limits: {frame: 2GiB}", ":2: limits.frame: expected a size from"),
            ("limits: {frame: 1KiB}", ":2: limits.frame: expected a frame with room for a header"),
            ("limits: {calls: 1KiB}", ":2: limits.calls: expected an integer from 1 to 1000000; found \"1KiB\""),
            ("limits: {calls: -1}", ":2: limits.calls: expected an integer"),
            ("limits: {calls: 1.5}", ":2: limits.calls: expected an integer"),
            ("limits: {connections: 16}", ":2: limits.connections: expected an integer from 17"),
            ("limits: {depth: 0}", ":2: limits.depth: expected an integer from 1 to 1000; found 0"),
            ("limits: {depth: 1001}", ":2: limits.depth: expected an integer from 1 to 1000"),
            ("limits: {retained: 2001}", ":2: limits.retained: expected an integer from 1 to 2000"),
            ("limits: {queue: 99999999999999999999}", ":2: limits.queue: expected a size"),
            ("startup: 0s", ":2: startup: expected a time"),
            ("startup: 1.5s", ":2: startup: expected a time"),
            ("assembly: 99999999h", ":2: assembly: expected a time"),
            ("modules: [a]", ":2: modules: expected a mapping such as {Storage: {run: [bin/storage]}}; found a list"),
            (
                "modules: {A: {reports: [x]}}",
                ":2: modules.A.reports: expected a mapping such as {Log: [log.line]}; found a list"
            ),
            (
                "modules: {A: {urls: [x]}}",
                ":2: modules.A.urls: expected a mapping such as {\"item/:name\": Catalog/item}"
            ),
            ("modules: {A: {env: A=b}}", ":2: modules.A.env: expected a mapping such as {TZ: UTC}"),
            ("modules: {9a: }", ":2: modules.9a: expected a module's name"),
            ("modules: {bus: }", ":2: modules.bus: expected a module's name"),
            ("modules: {A: , A: }", ":2: modules.A: expected each key once"),
            ("nonsense: 1", ":2: nonsense: unknown key; expected app, env"),
            (
                "adapters: {A: {to: B}}",
                ":2: adapters.A.to: expected an interface that a row provides, or another adapter"
            ),
            ("adapters: {A: {to: A}}", ":2: adapters.A.to: expected an end; found the cycle A to A"),
            (
                "adapters: {A: {to: B}, B: {to: CRouter}, C: {to: A}}",
                ":2: adapters.A.to: expected an end; found the cycle A to B to C to A"
            ),
            ("adapters: {A: {}}", ":2: adapters.A: expected the key to"),
        ])
    func aBadValueIsNamed(_ line: String, _ start: String) {
        let errors = errors("app: a\n\(line)\n")
        #expect(errors.count == 1)
        #expect(errors.first?.hasPrefix(start) == true, "\(errors)")
    }

    /// Keys of a row `A`, which provides `I`, beside a row `B`, which provides `J`.
    @Test(
        .promise("M.1", "M.6"),
        arguments: [
            ("level: high", ":4: modules.A.level: expected basic, middle or topout; found \"high\""),
            ("priority: high", ":4: modules.A.priority: expected an integer; found \"high\""),
            ("run: a", ":4: modules.A.run: expected a list; found \"a\""),
            ("run: []", ":4: modules.A.run: expected a program"),
            ("run: ['']", ":4: modules.A.run: expected a program's path"),
            ("run: [a, [b]]", ":4: modules.A.run[1]: expected a string; found a list"),
            ("folder:", ":4: modules.A.folder: expected a folder's path; found nothing"),
            ("keepEnv: PATH", #":4: modules.A.keepEnv: expected a list; found "PATH""#),
            ("keepEnv: [a=b]", #":4: modules.A.keepEnv[0]: expected a variable's name; found "a=b""#),
            ("keepEnv: [STRATA_TOKEN]", ":4: modules.A.keepEnv[0]: expected another variable; the launcher passes"),
            ("keepEnv: [NOTIFY_SOCKET]", ":4: modules.A.keepEnv[0]: expected another variable; the launcher passes"),
            ("env: {a=b: c}", ":4: modules.A.env.a=b: expected a variable's name"),
            ("env: {STRATA_TOKEN: c}", ":4: modules.A.env.STRATA_TOKEN: expected another variable"),
            ("replace: never", ":4: modules.A.replace: expected wait or overlap"),
            ("user: nobody", ":4: modules.A.user: expected the key group"),
            ("start: lazy", ":4: modules.A.start: expected eager, async, on-demand or manual; found \"lazy\""),
            ("start: {}", ":4: modules.A.start: expected eager, async, on-demand or manual; found a mapping"),
            ("idle: 0s", ":4: modules.A.idle: expected a time"),
            ("backoff: {first: 2m}", ":4: modules.A.backoff: expected first not longer than most; found 120000ms"),
            ("backoff: {frist: 2m}", ":4: modules.A.backoff.frist: unknown key; did you mean first?"),
            ("stop: soon", ":4: modules.A.stop: expected a time"),
            ("ping: 0ms", ":4: modules.A.ping: expected a time"),
            ("ping: [1s]", ":4: modules.A.ping: expected a time"),
            ("ping: {restart: false}", ":4: modules.A.ping: expected the key every, a time; found none"),
            ("ping: {every: 0s}", ":4: modules.A.ping.every: expected a time"),
            ("ping: {every: 1s, restart: no}", ":4: modules.A.ping.restart: expected true or false; found \"no\""),
            ("ping: {evry: 1s, every: 1s}", ":4: modules.A.ping.evry: unknown key; did you mean every?"),
            ("limits: {memory: 1TiB}", ":4: modules.A.limits.memory: expected a size"),
            ("limits: {files: 0}", ":4: modules.A.limits.files: expected an integer from 1"),
            ("provides2: [a]", ":4: modules.A.provides2: unknown key; did you mean provides?"),
            ("requires: [I, IRouter]", ":4: modules.A.requires[1]: expected each name once; \"I\""),
            ("requires: [9]", ":4: modules.A.requires[0]: expected an interface's name"),
            ("requires: [busRouter]", ":4: modules.A.requires[0]: expected an interface's name"),
            ("requires: [J, J@2.1]", ":4: modules.A.requires[1]: expected each name once; \"J\""),
            (
                "requires: [J@2]",
                ":4: modules.A.requires[0]: expected an interface's name ([A-Za-z][A-Za-z0-9._-]{0,63}, not reserved), "
                    + "alone or with a version as in Storage@2.1; found \"J@2\""
            ),
            ("requires: [J@02.1]", ":4: modules.A.requires[0]: expected an interface's name"),
            ("requires: [bus@2.1]", ":4: modules.A.requires[0]: expected an interface's name"),
            ("contracts: enforced", ":4: modules.A.contracts: expected off; found \"enforced\""),
            ("contracts: false", ":4: modules.A.contracts: expected off; found false"),
            ("urls: {h/a: I}", ":4: modules.A.urls.h/a: expected Interface/action; found \"I\""),
            ("urls: {h/a: J/a}", ":4: modules.A.urls.h/a: expected an interface that A provides; found \"J/a\""),
            ("urls: {/a: I/a}", ":4: modules.A.urls./a: expected HOST/PATH"),
            ("urls: {'h:1/a': I/a}", ":4: modules.A.urls.h:1/a: expected HOST/PATH"),
            ("urls: {h//a: I/a}", ":4: modules.A.urls.h//a: expected HOST/PATH"),
            ("urls: {h/%4: I/a}", ":4: modules.A.urls.h/%4: expected HOST/PATH"),
            ("urls: {'h/:a/:a': I/a}", ":4: modules.A.urls.h/:a/:a: expected HOST/PATH"),
            ("urls: {'h/*': I/a}", ":4: modules.A.urls.h/*: expected HOST/PATH"),
            ("urls: {'*/a*b': I/a}", ":4: modules.A.urls.*/a*b: expected HOST/PATH"),
            ("urls: {'*/*a/b': I/a}", ":4: modules.A.urls.*/*a/b: expected HOST/PATH"),
            ("urls: {'*/*a': I/a, '*/*b': I/b}", ":4: modules.A.urls.*/*b: expected each pattern once"),
            ("urls: {'h/:a': I/a, 'H/:b': I/b}", ":4: modules.A.urls.H/:b: expected each pattern once"),
            ("urls: {h/%61: I/a, h/a/: I/b}", ":4: modules.A.urls.h/a/: expected each pattern once"),
            ("observes: ['']", ":4: modules.A.observes[0]: expected a name of 1 to 256 bytes"),
            ("retained: ever", ":4: modules.A.retained: expected session or app"),
            ("observes: [{name: a, keep: some}]", ":4: modules.A.observes[0].keep: expected all or latest"),
            ("observes: [{object: a}]", ":4: modules.A.observes[0]: expected the key name"),
            ("broadcasts: [a, a]", ":4: modules.A.broadcasts[1]: expected each name once"),
            (
                "reports: {Bo: [a]}",
                ":4: modules.A.reports.Bo: expected a module of this manifest; found \"Bo\"; did you mean B?"
            ),
            ("reports: {B: a}", ":4: modules.A.reports.B: expected a list"),
            ("emits: [[]]", ":4: modules.A.emits[0]: expected a name"),
            ("trusted: yes", ":4: modules.A.trusted: expected true or false; found \"yes\""),
            ("required: 1", ":4: modules.A.required: expected true or false; found 1"),
            ("required: true", ":4: modules.A.required: expected the key run beside required; found none"),
        ])
    func aBadValueInARowIsNamed(_ line: String, _ start: String) {
        let errors = errors("app: a\nmodules:\n  A:\n    \(line)\n    provides: [I]\n  B: {provides: [J]}\n")
        #expect(errors.count == 1)
        #expect(errors.first?.hasPrefix(start) == true, "\(errors)")
    }

    @Test(.promise("M.97"), arguments: ["manual", "on-demand"])
    func onlyWhatTheAppStartsCanBeRequired(start: String) {
        func found(_ start: String, _ required: Bool) -> [String] {
            errors(
                "app: a\nmodules:\n  A: {run: [a], provides: [I], start: \(start), required: \(required)}\n")
        }
        #expect(found("async", true) == [] && found("eager", true) == [] && found(start, false) == [])
        #expect(found(start, true).first?.contains("expected start: eager or async beside required") == true)
    }

    /// Guests may have any name that a module may have.
    @Test(.promise("M.47")) func reportsGoToGuestsWhereThereAreSome() {
        func found(_ guests: String, _ target: String) -> [String] {
            errors("app: a\n\(guests)modules:\n  A:\n    level: topout\n    reports: {\(target): [a]}\n")
        }
        let guests = "guests: {level: topout, most: 2}\n"
        #expect(found(guests, "Visitor") == [])
        #expect(found("", "Visitor").first?.contains("expected a module of this manifest; found \"Visitor\"") == true)
        #expect(found(guests, "bus").count == 1)
        #expect(found(guests, "a visitor").count == 1)
    }

    @Test(.promise("M.1")) func rowsAreJudgedTogether() {
        #expect(
            errors("app: a\nmodules:\n  A: {provides: [I]}\n  B: {provides: [IRouter]}\n") == [
                ":4: modules.B.provides[0]: expected an interface of this row alone; I is provided by A too"
            ])
        #expect(
            errors("app: a\nmodules:\n  A: {start: on-demand}\n") == [
                ":3: modules.A.start: expected the key provides or wakes beside on-demand; found neither"
            ])
        #expect(
            errors(
                "app: a\nmodules:\n  A: {provides: [I], urls: {'h/:a': I/a}}\n  B: {provides: [J], urls: {'h/:b': J/a}}\n"
            )
            .first?.hasSuffix("A maps it too") == true)
    }

    @Test func adaptersAreJudged() {
        func errors(_ adapters: String) -> [String] {
            self.errors("app: a\nmodules: {M: {provides: [I]}}\nadapters:\n  \(adapters)\n")
        }
        #expect(errors("A: {to: I}") == [])
        #expect(
            errors("{A: {to: I}, ARouter: {to: I}}").first?.hasPrefix(":4: adapters.ARouter: expected each adapter")
                == true)
        #expect(errors("9: {to: I}").first?.hasPrefix(":4: adapters.9: expected an interface's name") == true)
        #expect(
            errors("A: {to: I, actions: {9: {}}}").first?.hasPrefix(":4: adapters.A.actions.9: expected an action")
                == true)
        #expect(errors("A: {to: I, actions: {a: {params: {x: z, y: z}}}}").first?.contains("found \"z\" twice") == true)
        #expect(
            errors("A: {to: I, notices: {a: ''}}").first?.hasPrefix(":4: adapters.A.notices.a: expected a name") == true
        )
    }

    @Test(arguments: [
        ("", ": expected a mapping with app and modules; found an empty file"),
        ("# nothing", ": expected a mapping with app and modules; found an empty file"),
        ("[a]", ":1: expected a mapping with app and modules; found a list"),
        ("env: a", ":1: app: expected the key app, the app's name; found none"),
        ("app: A", ":1: app: expected 1 to 32 of a-z, 0-9 and -; found \"A\""),
        ("app: a\nb: [", ":3: not YAML:"),
        ("app: a\n\tb: c", ":2: not YAML: the line is indented by a tab; indent it by spaces"),
        ("app: a\nmodules:\n  A:\n  \trun: [x]", ":4: not YAML: the line is indented by a tab"),
        ("app: a\nmodules:\n\tA:", ":3: not YAML: the line is indented by a tab"),
        ("app: a\n@b: c", ":2: not YAML: found character"),
        ("app: a\n---\napp: b", ":2: expected one document; found another"),
        ("app: a\nsettings: {[a]: b}", ":2: expected a key that is a string"),
        ("app: a\nsettings: *b", ":2: this alias stands for nothing"),
        ("app: a\nsettings: &b [*b]", ":2: this alias stands for nothing"),
        ("app: a\nsettings: !!binary aa", ":2: a manifest has no tag"),
    ])
    func aFileThatIsNoManifestIsOneError(_ text: String, _ start: String) {
        let errors = errors(text)
        #expect(errors.count == 1)
        #expect(errors.first?.hasPrefix(start) == true, "\(errors)")
    }

    @Test(.promise("M.2")) func unreadableAndHugeFilesAreOneError() throws {
        let missing = #expect(throws: ManifestErrors.self) {
            try Manifest.load(path: "/nowhere/strata.yaml", environment: [:])
        }
        #expect(missing?.description == "/nowhere/strata.yaml: can't be opened: No such file or directory")
        let folder = #expect(throws: ManifestErrors.self) { try Manifest.load(path: "/tmp", environment: [:]) }
        #expect(folder?.description == "/tmp: can't be read: Is a directory")
        #expect(TemporaryManifest.errors(Array("app: a\n# ".utf8) + [0xC3, 0x28]) == [":2: is not valid UTF-8"])
        let comment = [UInt8](repeating: UInt8(ascii: "#"), count: (1 << 20) - 7)
        #expect(TemporaryManifest.errors(Array("app: a\n".utf8) + comment) == [])
        #expect(TemporaryManifest.errors(Array("app: a\n#".utf8) + comment) == [": is larger than 1 MiB"])
    }

    @Test(.promise("M.2")) func aliasesAndDepthAreBounded() {
        var bomb = "app: a\nsettings:\n  a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
        for index in 1..<30 {
            bomb += "  a\(index): &a\(index) [\(String(repeating: "*a\(index - 1),", count: 10))]\n"
        }
        #expect(errors(bomb).first?.hasSuffix("aliases stand for more than 100000 values") == true)
        func nested(_ depth: Int) -> [String] {
            errors("app: a\nsettings: \(String(repeating: "[", count: depth))\(String(repeating: "]", count: depth))")
        }
        #expect(nested(63) == [])
        #expect(nested(64) == [":2: nested deeper than 64"])
        // Aliases don't hide depth: eight times ten is too deep, and six times isn't.
        func chained(_ count: Int) -> [String] {
            let (open, close) = (String(repeating: "[", count: 10), String(repeating: "]", count: 10))
            let links = (1...count).map { "  b\($0): &b\($0) \(open)*b\($0 - 1)\(close)\n" }
            return errors("app: a\nsettings:\n  b0: &b0 x\n" + links.joined())
        }
        #expect(chained(6) == [])
        #expect(chained(8) == [":10: nested deeper than 64"])
        #expect(nested(900) == [":2: nested deeper than 64"])
    }

    private func errors(_ text: String, environment: [String: String] = [:]) -> [String] {
        TemporaryManifest.errors(Array(text.utf8), environment: environment)
    }
}
