import StrataCore
import StrataOperator
import StrataManifest
import StrataTesting
import Testing

@testable import StrataLauncher

@Suite(.timeLimit(.hang))
struct SettingTests {
    @Test(.promise("I.11", "M.5")) func launchOptionsAreJSONWhereTheyReadAsIt() throws {
        let options = try LaunchOptions.adding(
            ["a=3", "b=x=y", "c={\"d\":true}", "e=", "old=new"], to: ["old": "1", "kept": 2])
        #expect(options == ["kept": 2, "a": 3, "b": "x=y", "c": ["d": true], "e": "", "old": "new"])
    }

    @Test(.promise("M.5")) func wordThatIsNoPairIsRefused() {
        #expect(throws: LaunchError.self) { try LaunchOptions.adding(["debug"], to: .object([])) }
        #expect(throws: LaunchError.self) { try LaunchOptions.adding(["=1"], to: .object([])) }
        #expect(throws: LaunchError.self) { try LaunchOptions.adding(["a=1"], to: 3) }
    }

    @Test func socketIsAbsoluteAndFits() throws {
        let table = AppTable(app: "test")
        #expect(try SocketChoice(table, given: "here.sock").path.hasSuffix("/here.sock"))
        #expect(try SocketChoice(table, given: "here.sock").path.hasPrefix("/"))
        let long = "/" + String(repeating: "x", count: 107)
        #expect(throws: LaunchError.self) { try SocketChoice(table, given: long) }
    }

    /// Returns the node that is chosen, or the error.
    private func chosen(_ manifest: String, _ given: String?, _ variable: String? = nil) throws -> String {
        let files = try ManifestFiles(["strata.yaml": manifest])
        let path = "\(files.folder.path)/strata.yaml"
        do throws(LaunchError) {
            let environment = variable.map { ["STRATA_NODE": $0] } ?? [:]
            let manifest = try AppRun.manifest(path, node: NodeChoice(given: given), environment: environment)
            return manifest.table.node ?? "none"
        } catch {
            #expect(error.code == 2)
            return String(error.message.dropFirst(path.count))
        }
    }

    @Test(.promise("M.150")) func nodeIsTheOptionsElseTheVariables() throws {
        let two = "app: a\nnodes: {berlin: , tokyo: }\nfederation: {servers: [tls://n1]}\n"
        #expect(try chosen(two, "berlin") == "berlin")
        #expect(try chosen(two, nil, "tokyo") == "tokyo")
        #expect(try chosen(two, "berlin", "tokyo") == "berlin")
        let ask = ": the app a has nodes: berlin, tokyo; say which one this machine is, with --node NAME or STRATA_NODE"
        #expect(try chosen(two, nil) == ask)
        #expect(try chosen(two, nil, "") == ask)
        #expect(try chosen(two, "tokio") == ": the app a has no node tokio; it has berlin, tokyo; did you mean tokyo?")
        #expect(try chosen(two, nil, "rome") == ": the app a has no node rome (STRATA_NODE); it has berlin, tokyo")
        #expect(try chosen("app: a", "berlin").hasPrefix(": the app a has no nodes, and --node says berlin"))
        #expect(try chosen("app: a", nil, "berlin") == "none")
    }

    @Test(.promise("M.150")) func severalNodesNeedServers() throws {
        let missing = try chosen("app: a\nnodes: {berlin: , tokyo: }\n", "berlin")
        #expect(missing.contains("federation: expected servers, because 2 nodes reach each other"), "\(missing)")
        #expect(try chosen("app: a\nnodes: {berlin: }\n", "berlin") == "berlin")
    }

    @Test(.promise("1.1", "M.151")) func socketHasTheNodesName() throws {
        var table = AppTable(app: "moments")
        table.node = "berlin"
        #expect(try SocketChoice(table, given: nil).path.hasSuffix("/moments@berlin.sock"))
        table.group = 1
        #expect(try SocketChoice(table, given: nil).path.hasSuffix("-moments/moments@berlin.sock"))
    }

    @Test func pathThatIsNoSocketIsRefused() throws {
        let folder = try TemporaryFolder()
        let table = AppTable(app: "test")
        try SocketChoice(table, given: folder.path + "/bus.sock").prepare(table)
        // The folder itself is at that path, and isn't a socket.
        let choice = try SocketChoice(table, given: folder.path)
        #expect(throws: LaunchError.self) { try choice.prepare(table) }
    }

    @Test func suggestionsComeFromTheAppItself() {
        var table = AppTable(app: "test")
        table.schemes = ["shop"]
        var row = AppTable.Row(name: "Catalog")
        row.urls = [
            AppTable.URLMapping(host: "item", path: "/:name", to: "Catalog/item"),
            AppTable.URLMapping(host: "search", path: "/", to: "Catalog/search"),
        ]
        table.modules = [row]
        let interfaces: JSON = [
            "interfaces": [
                [
                    "name": "Catalog", "instances": "single",
                    "actions": [
                        ["name": "add", "auth": false], ["name": "list", "auth": false],
                        ["name": "drop", "auth": true],
                    ],
                ]
            ]
        ]
        #expect(
            Suggestions.commands(table, interfaces: [InterfaceRow](interfaces)) == [
                "strata call Catalog", "strata can-open 'shop://search/'", "strata ps",
            ])
        // For an interface that lists no actions, there is nothing to suggest.
        let bare: JSON = [
            "interfaces": [["name": "Catalog", "actions": [["name": "add"]]], ["name": "Log", "actions": []]]
        ]
        #expect(
            Suggestions.commands(AppTable(app: "a"), interfaces: [InterfaceRow](bare)).first == "strata call Catalog")
        // The bus lists them by name.
        let several: JSON = [
            "interfaces": .array(
                ["Base", "Shop", "Store"].map {
                    ["name": .string("I\($0)"), "module": .string($0), "actions": [["name": "act"]]]
                })
        ]
        table.modules = ["Shop", "Store", "Base"].map { AppTable.Row(name: $0) }
        table.modules[0].rank = 2
        #expect(Suggestions.commands(table, interfaces: [InterfaceRow](several)).first == "strata call IShop")
        #expect(Suggestions.commands(AppTable(app: "bare"), interfaces: []).count == 3)
    }

    @Test func environmentKeepsNothingOfAnotherBus() {
        let inherited = ProcessEnvironment.inherited(
            ["PATH": "/bin", "STRATA_TOKEN": "old", "STRATA_SOCKET": "/x", "STRATA_SET_page": "3"],
            by: Manifest(path: "", folder: "/", table: AppTable(app: "a"), processes: []))
        #expect(inherited == ["PATH": "/bin"])
        var process = ModuleProcess(name: "A", folder: "/")
        process.env = ["PATH": "/mine", "STRATA_TOKEN": "forged"]
        let all = ProcessEnvironment.module(process, inherited: inherited, user: nil, bus: ["STRATA_TOKEN": "true"])
        #expect(all == ["PATH=/mine", "STRATA_TOKEN=true", "SWIFT_BACKTRACE=registers=none,images=none"])
    }

    /// A setting for backtraces takes precedence, if the row keeps that variable.
    @Test(.promise("M.63")) func backtracesAreShortWhereNobodySaysOtherwise() {
        func backtrace(
            _ launcher: String?, keep: [String]? = nil, row: String? = nil, user: UInt32? = nil
        ) -> String? {
            var process = ModuleProcess(name: "A", folder: "/")
            process.keepEnv = keep
            process.env["SWIFT_BACKTRACE"] = row
            let variables = ProcessEnvironment.module(
                process, inherited: launcher.map { ["SWIFT_BACKTRACE": $0] } ?? [:], user: user, bus: [:])
            return variables.first { $0.hasPrefix("SWIFT_BACKTRACE=") }.map { String($0.dropFirst(16)) }
        }
        let short = "registers=none,images=none"
        #expect(backtrace(nil) == short && backtrace("enable=no") == "enable=no")
        #expect(backtrace(nil, row: "color=yes") == "color=yes" && backtrace("enable=no", row: "x") == "x")
        #expect(backtrace("enable=no", keep: []) == short && backtrace("enable=no", user: 0) == short)
        #expect(backtrace("enable=no", keep: ["SWIFT_BACKTRACE"], user: 0) == "enable=no")
    }

    @Test(.promise("M.6")) func rowWithAUserInheritsWhatItKeepsAlone() {
        let inherited = ["PATH": "/bin", "AWS_SECRET": "mine", "XDG_RUNTIME_DIR": "/run/user/0"]
        var process = ModuleProcess(name: "A", folder: "/")
        process.env = ["TZ": "UTC"]
        func names(user: UInt32?) -> [String] {
            ProcessEnvironment.module(process, inherited: inherited, user: user, bus: [:])
                .map { String($0.prefix { $0 != "=" }) }.filter { $0 != "SWIFT_BACKTRACE" }
        }
        #expect(names(user: nil) == ["AWS_SECRET", "PATH", "TZ", "XDG_RUNTIME_DIR"])
        #expect(names(user: 0) == ["HOME", "LOGNAME", "TZ", "USER"])
        process.keepEnv = ["PATH", "ABSENT"]
        #expect(names(user: 0) == ["HOME", "LOGNAME", "PATH", "TZ", "USER"])
        #expect(names(user: nil) == ["PATH", "TZ"])
        process.keepEnv = []
        #expect(names(user: nil) == ["TZ"])
    }

    @Test func tokensAreLongAndNeverTwiceTheSame() {
        let tokens = Set((0..<100).map { _ in Token.make() })
        #expect(tokens.count == 100)
        #expect(tokens.allSatisfy { $0.utf8.count == 32 })
    }
}
