import ArgumentParser
import StrataCore
import StrataOperator

/// `strata emit`: calls an event on each module that declared it.
struct Emit: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Emits an event to the modules that declared it, and shows their answers.",
        discussion: """
            EXAMPLE
              strata emit app.reload
              strata emit app.suspend '{"reason": "lid"}' --policy all

            notify calls all modules, and its result is true; all is true if each answers true; \
            any stops at the first true.
            """)

    /// How the modules' answers become one.
    enum Policy: String, ExpressibleByArgument, CaseIterable { case notify, all, any }

    @Argument(help: "The event's name.", completion: LiveNames.events)
    var event: String

    @Argument(help: ArgumentHelp("The event's params; - reads them from stdin. Default: null.", valueName: "json"))
    var params: String?

    @Option(help: "How the answers are combined.")
    var policy = Policy.notify

    @Option(
        help: ArgumentHelp(
            "How long each module may take: an integer with ms, s, m or h. Default: 5s.", valueName: "time"))
    var timeout: Milliseconds?

    @OptionGroup var output: OutputOption
    @OptionGroup var bus: BusOption

    func run() throws {
        var request = Request(to: "bus/emit", body: try Params.read(params))
        request.members = [("name", try CheckedName.read(event))]
        request.meta = (["policy": .string(policy.rawValue)] as JSON).encoded()
        request.deadline = timeout?.value
        // With `any`, the modules are called one after another, and each may use the whole time.
        request.isEndless = true
        let connection = try bus.connect()
        let body = try connection.send(request, "emitting \(event)")
        let answer = Answer(output)
        guard !answer.isForPrograms, let result = try? JSON(parsing: body), let answers = result["answers"]?.array
        else { return try answer.show(body) }

        if !answers.isEmpty {
            var table = Table(columns: [.init("MODULE"), .init("ANSWER", isFlexible: true)])
            for one in answers {
                let code = one["code"]?.string
                table.add([
                    .init(one["module"]?.string ?? "?", .bold),
                    .init(code ?? "\(one["answer"] ?? .null)", code == nil ? .plain : .red),
                ])
            }
            table.print(answer.painter)
        } else if !OwnEvents.all.contains(event) {
            // Suggest names from the events that modules declare.
            let known = (try? connection.ask("bus/names"))?["events"]?.array?.compactMap(\.string) ?? []
            let near = nearestNames(to: event, in: OwnEvents.all + known.filter { $0 != event })
            StandardError.write("No module that is ready declares \(event).\(InterfaceActions.hint(near))")
        }
        let isTrue = result["answer"]?.bool == true
        StandardOutput.write(line: answer.painter.paint(isTrue ? "true" : "false", isTrue ? .green : .yellow))
    }
}

/// `strata notify`: broadcasts as an operator.
struct Notify: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Broadcasts a notification, and prints how many notices were queued.",
        discussion: """
            EXAMPLE
              strata notify storage.changed '{"table": "notes"}'
              strata notify session.ended --level middle

            It is sent as if from one level: only modules of later levels observe it.
            """)

    @Argument(help: "The notification's name.", completion: LiveNames.notifications)
    var name: String

    @Argument(help: ArgumentHelp("Its params; - reads them from stdin. Default: null.", valueName: "json"))
    var params: String?

    @Option(
        help: "The level to send it from. Default: the first one.", completion: LiveNames.levels)
    var level: String?

    @Option(help: "The object that it is about, for observers that filter on it.")
    var object: String?

    @OptionGroup var output: OutputOption
    @OptionGroup var bus: SocketOption

    func run() throws {
        var request = Request(.broadcast)
        request.body = try Params.read(params)
        let name = try CheckedName.read(name)
        let connection = try bus.connect()
        let sender = level ?? connection.welcome.levels.first ?? "basic"
        guard connection.welcome.levels.isEmpty || connection.welcome.levels.contains(sender) else {
            let known = connection.welcome.levels.joined(separator: ", ")
            let near = InterfaceActions.hint(nearestNames(to: sender, in: connection.welcome.levels))
            throw Failure(.usage, "\(connection.welcome.app) has no level \(sender); its levels are \(known)\(near)")
        }
        request.members = [("name", name), ("level", sender)]
        if let object { request.members.append(("object", object)) }
        let body = try connection.send(request, "waiting for the bus")
        let answer = Answer(output)
        guard !answer.isForPrograms, let count = (try? JSON(parsing: body))?["recipients"]?.integer else {
            return try answer.show(body)
        }
        if count == 0 {
            let known = KnownNames(connection)
            if !known.contains(name) { known.remark(on: name, "No module here observes") }
        }
        StandardOutput.write(line: count == 1 ? "1 notice was queued" : "\(count) notices were queued")
    }
}

/// `strata report`: reports to one module as an operator.
struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Reports a notification to one module, and prints how many observers answered.",
        discussion: """
            EXAMPLE
              strata report Log note.saved '{"id": 7}'
              strata report Catalog item.changed --object item/7

            It waits until all observers in the module have answered. The first error of one of \
            them is the report's.
            """)

    @Argument(help: "The module.", completion: LiveNames.modules)
    var module: String

    @Argument(help: "The notification's name.", completion: LiveNames.notifications)
    var name: String

    @Argument(help: ArgumentHelp("Its params; - reads them from stdin. Default: null.", valueName: "json"))
    var params: String?

    @Option(help: "The object that it is about, for observers that filter on it.")
    var object: String?

    @Option(
        help: ArgumentHelp(
            "How long the observers may take: an integer with ms, s, m or h. Default: 30s.", valueName: "time"))
    var timeout: Milliseconds?

    @OptionGroup var output: OutputOption
    @OptionGroup var bus: BusOption

    func run() throws {
        var request = Request(.report, to: module, body: try Params.read(params), deadline: timeout?.value)
        request.members = [("name", try CheckedName.read(name))]
        if let object { request.members.append(("object", object)) }
        let connection = try bus.connect()
        let body: [UInt8]
        do throws(Failure) { body = try connection.send(request, "reporting to \(module)") } catch {
            throw ModuleRequest.suggesting(error, for: module, connection)
        }
        let answer = Answer(output)
        guard !answer.isForPrograms, let count = (try? JSON(parsing: body))?["observers"]?.integer else {
            return try answer.show(body)
        }
        if count == 0 { KnownNames(connection).remark(on: name, "\(Printable.line(module)) doesn't observe") }
        StandardOutput.write(line: count == 1 ? "1 observer answered" : "\(count) observers answered")
    }
}

/// The names of notifications that the modules of a bus observe, or that rows broadcast.
struct KnownNames {
    private let names: [String]
    private let patterns: [String]

    init(_ connection: CommandClient) {
        let known = try? connection.ask("bus/names")
        names = known?["notifications"]?.array?.compactMap(\.string) ?? []
        patterns = known?["patterns"]?.array?.compactMap(\.string) ?? []
    }

    /// Whether some module knows a name, or one that a pattern matches.
    func contains(_ name: String) -> Bool {
        names.contains(name) || patterns.contains { $0 == name || NamePattern.matches($0, name) }
            || NamePattern.isPattern(name) && names.contains { NamePattern.matches(name, $0) }
    }

    /// Says on stderr what is wrong with a name, and suggests the nearest ones.
    /// - Parameter what: the words before the name.
    func remark(on name: String, _ what: String) {
        let near = nearestNames(to: name, in: names.filter { $0 != name })
        StandardError.write("\(what) \(name).\(InterfaceActions.hint(near))")
    }
}
