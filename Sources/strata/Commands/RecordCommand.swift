import ArgumentParser
import StrataCore
import StrataLoop
import StrataOperator
import StrataReplay

/// `strata record`: writes what passes on the bus into a file.
struct RecordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record", abstract: "Records the frames that the bus passes on or refuses, into a file.",
        discussion: """
            The file is a pcapng file, which `strata replay` runs a module on, and which \
            Wireshark shows. docs/recordings.md describes it. It has what `strata monitor \
            --bodies --json` shows, without bodies over 64 KiB, secrets of settings, and tokens.

            EXAMPLE
              strata record crash.pcapng
              strata record notes.pcapng --module Notes
              strata record - | wireshark -k -i -

            To have a module's start too, restart the module while this runs. It ends with \
            ctrl-C, when the app ends, or when the file has its most bytes. If the broker dies, \
            it waits for the next one, and continues.
            """)

    @Argument(help: "The file, which must not exist yet; - is standard output.", completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp(
            "Only what is from or to this module, how its calls end, what the launcher says of it, and who creates "
                + "instances; repeat it, or use commas, for several.", valueName: "module"),
        completion: LiveNames.modules)
    var module: [String] = []

    @Flag(name: .customLong("no-bodies"), help: "Leaves the frames' bodies out. `strata replay` needs them.")
    var noBodies = false

    @Option(
        help: ArgumentHelp("The most MiB that the file may have, 1 to 65536.", valueName: "mebibytes"))
    var most = 1_024

    @OptionGroup var loss: WaitOption
    @OptionGroup var bus: BusOption

    mutating func validate() throws {
        module = module.flatMap { $0.split(separator: ",").map(String.init) }
        guard (1...65_536).contains(most) else { throw ValidationError("--most takes 1 to 65536 MiB; found \(most)") }
    }

    func run() throws {
        let connection = try bus.connect()
        let output = try RecordingFile(file, most: most << 20)
        defer { output.close() }
        if StandardError.isTerminal { StandardError.write("Recording \(connection.welcome.app); ctrl-C ends it.") }
        try output.begin(app: connection.welcome.app)
        do throws(Failure) { try follow(connection, output) } catch {
            output.abandon()
            throw error
        }
        try output.finish()
    }

    private func follow(_ connection: CommandClient, _ output: RecordingFile) throws(Failure) {
        var filter = RecordFilter(module)
        var request = Request.monitor(noBodies ? [] : [.init("bodies", true)])
        request.onPartial = { body in
            guard let json = try? JSON(parsing: body, maximumDepth: JSONText.maximumDepth) else { return }
            output.missed += json["missed"]?.integer ?? 0
            guard let packet = filter.packet(json, body) else { return }
            if !output.add(packet, at: json["at"]?.integer ?? 0) { connection.client.cancelAll() }
        }
        try BusReturn.follow(connection, patience: loss.wait.value) { isAgain throws(Failure) in
            // Another broker numbers its calls from the start.
            if isAgain { filter = RecordFilter(module) }
            _ = output.add(heading(connection).encoded(), at: Int64(clamping: Loop.wallMicroseconds))
            do throws(Failure) { _ = try connection.send(request) } catch {
                // Ctrl-C, a full file or the orderly end of the app is how the command is meant to end.
                guard error.code != .cancelled else { return }
                guard error.code == .shuttingDown else { throw error }
                StandardError.write("strata: \(MonitorCommand.appEnds)")
            }
        }
    }

    /// What a broker's frames begin with.
    private func heading(_ connection: CommandClient) -> JSON {
        [
            "kind": "recording", "at": .integer(Int64(clamping: Loop.wallMicroseconds)),
            "app": .string(connection.welcome.app), "strata": .string(RootCommand.version),
            "bodies": .bool(!noBodies),
        ]
    }
}
