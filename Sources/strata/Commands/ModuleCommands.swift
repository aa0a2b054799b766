import ArgumentParser
import StrataCore
import StrataOperator

/// `strata restart`: ends one module and starts it again, or replaces the running broker.
struct Restart: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Restarts a module, or replaces the broker without losing anything.",
        discussion: """
            EXAMPLE
              strata restart Catalog
              strata restart --broker

            Requests to the module wait until it is ready again, and so does the command. Replicas are \
            restarted one after another, so that the others serve meanwhile. \
            The broker executes its program anew in the same process: connections stay open, \
            and open requests continue. If it can't, it continues as it was, and says why.
            """)

    @Argument(help: "The module's name.", completion: LiveNames.modules)
    var module: String?

    @Flag(help: "Replaces the broker instead of a module.")
    var broker = false

    @OptionGroup var request: ModuleRequest

    func validate() throws {
        switch (module, broker) {
        case (nil, false): throw ValidationError("name the module to restart, or use --broker")
        case (let module?, true): throw ValidationError("give either the module \(module) or --broker, not both")
        case (.some, false), (nil, true): break
        }
    }

    func run() throws {
        if let module {
            try request.run("restart", module, doing: "restarting", done: "restarted")
        } else {
            try replaceBroker()
        }
    }

    private func replaceBroker() throws(Failure) {
        let request = Request(to: "bus/handOver", deadline: self.request.timeout?.value ?? 30_000)
        let body = try self.request.bus.connect().send(request, "replacing the broker")
        let answer = Answer(self.request.output)
        if answer.isForPrograms { return try answer.show(body) }
        let json = try? JSON(parsing: body)
        let count = { (name: String) in json?[name]?.integer.map { "\($0)" } ?? "?" }
        StandardOutput.write(
            line: "the broker was replaced: it stood still for \(count("microseconds")) µs, and kept "
                + "\(count("connections")) connections and \(count("requests")) open requests")
    }
}

/// `strata start`: starts one module, and waits until it is ready.
struct Start: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Starts a module.",
        discussion: """
            EXAMPLE
              strata start Export

            It waits until the module is ready.
            """)

    @Argument(help: "The module's name.", completion: LiveNames.modules)
    var module: String

    @OptionGroup var request: ModuleRequest

    func run() throws { try request.run("start", module, doing: "starting", done: "started") }
}

/// `strata stop`: ends one module, and waits until it has ended.
struct Stop: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stops a module.",
        discussion: """
            EXAMPLE
              strata stop Export

            It gets tearDown, then SIGTERM, then SIGKILL; the command waits until it has ended.
            """)

    @Argument(help: "The module's name.", completion: LiveNames.modules)
    var module: String

    @OptionGroup var request: ModuleRequest

    func run() throws { try request.run("stop", module, doing: "stopping", done: "stopped") }
}
