import ArgumentParser
import StrataCore
import StrataOperator

/// `strata can-open`: tells whether a URL leads to a module that is ready or can be started. It
/// shows the matching pattern, or else what is in the way.
struct CanOpen: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Says whether a URL can be opened, and where it leads or what prevents it.",
        discussion: """
            EXAMPLE
              strata can-open 'catalog://item/bash'
              strata can-open 'catalog://item/bash' | jq -e .open
              strata can-open 'catalog://item/bash?full' --json | jq .params

            It shows the pattern that matches, and the params that the action would get.

            Exit codes: 0 yes; 1 no; 2 bad usage; 3 no bus.
            """)

    @Argument(
        help: "The URL; quote it if the shell would interpret a part of it.", completion: LiveNames.urls)
    var url: String

    @OptionGroup var output: OutputOption
    @OptionGroup var bus: BusOption

    func run() throws {
        let answer = Answer(output)
        let connection: CommandClient
        do throws(Failure) { connection = try bus.connect(opening: url) } catch {
            // No bus would open such a URL, so the answer is no.
            guard let code = error.code, code == .badURL || code == .unknownScheme else { throw error }
            let message = error.message.trimmingPrefix("\(code): ")
            try show(["open": false, "reason": .string(code.rawValue)], nil, String(message), answer)
            exitNow(.answer)
        }
        let found = try connection.ask("bus/canOpen", ["url": .string(url)])
        let interfaces = try connection.interfaces()
        let view = URLView(url, interfaces: interfaces, schemes: connection.welcome.schemes)
        try show(found, view, try obstacle(found, view, interfaces, connection), answer)
        if found["open"]?.bool != true { exitNow(.answer) }
    }

    // MARK: What is in the way

    /// Returns a sentence or two; nil if nothing is in the way.
    private func obstacle(
        _ found: JSON, _ view: URLView, _ interfaces: [InterfaceRow], _ connection: CommandClient
    ) throws(Failure) -> String? {
        guard found["open"]?.bool != true, let reason = found["reason"]?.string else { return nil }
        guard let module = found["module"]?.string, let to = found["to"]?.string else {
            guard let problem = view.problem, problem.code.rawValue != reason else { return view.problem?.message }
            return "the scheme belongs to another app, which refuses this URL or isn't running"
        }
        switch ErrorCode(reason) {
        case .unknownAction:
            let interface = to.prefix { $0 != "/" }
            let actions = interfaces.first { $0.name == interface }?.actions.map(\.name) ?? []
            return "\(module) is running, but \(interface) has no such action: it has "
                + "\(actions.joined(separator: ", "))"
        case .unavailable:
            return try connection.modules().first { $0.name == module }.map { Self.absence(of: $0, to) }
        default: return nil
        }
    }

    /// Explains why a module can't take the URL, from what `bus/modules` reports.
    private static func absence(of module: ModuleRow, _ to: String) -> String {
        let name = module.name
        if module.quarantined.contains(where: { $0.action == to }) {
            return "\(to) is quarantined, because \(name) died several times while serving it; strata ps --why "
                + "\(name) shows more"
        }
        var text = "\(name) is \(module.state)"
        if !module.reason.isEmpty { text += " (\(module.reason))" }
        switch module.start {
        case "manual": return "\(text), and is started by hand: strata start \(name), or its program"
        case "guest": return "\(text), and the launcher starts no guests"
        default: return "\(text), and can't be started now; strata ps --why \(name) shows more"
        }
    }

    // MARK: Showing

    private func show(_ found: JSON, _ view: URLView?, _ message: String?, _ answer: Answer) throws(Failure) {
        guard !answer.isForPrograms else { return try answer.show(Self.line(found, view, message)) }
        let isOpen = found["open"]?.bool == true
        let to = found["to"]?.string.map {
            "\(Printable.line($0)), of \(Printable.line(found["module"]?.string ?? "?"))"
        }
        let reason = Printable.line(found["reason"]?.string ?? "no reason was given")
        let words = isOpen ? to ?? "another app" : to.map { "\(reason), at \($0)" } ?? reason
        StandardOutput.write(
            line: "\(answer.painter.paint(isOpen ? "yes" : "no", isOpen ? .green : .red)): \(words)")
        if let pattern = view?.pattern {
            let params = view?.params.flatMap { JSONText.compact($0) } ?? []
            StandardOutput.write(line: "  it matches \(Printable.line(pattern))")
            StandardOutput.write(
                line: "  and is called with \(Printable.line(String(decoding: params, as: UTF8.self)))")
        }
        guard let message else { return }
        for line in Paragraph.lines(Printable.line(message), width: max(20, Table.terminalWidth - 2)) {
            StandardOutput.write(line: "  \(line)")
        }
    }

    /// Returns the bus's answer with the members that this command adds.
    private static func line(_ found: JSON, _ view: URLView?, _ message: String?) -> [UInt8] {
        var line = found.encoded()
        guard line.last == UInt8(ascii: "}") else { return line }
        line.removeLast()
        if let pattern = view?.pattern { line += ",\"pattern\":".utf8 + JSON.string(pattern).encoded() }
        if let params = view?.params { line += ",\"params\":".utf8 + params }
        if let message { line += ",\"message\":".utf8 + JSON.string(message).encoded() }
        return line + "}".utf8
    }
}

/// How a bus's mappings resolve a URL: the matching pattern and the params of its action, or else
/// the problem.
///
/// The bus itself decides whether the URL can be opened. This reads the same mappings with the
/// bus's own code, and adds details.
struct URLView {
    /// The `host/path` of the matching pattern.
    private(set) var pattern: String?
    /// The body of the call that the URL would become, as JSON.
    private(set) var params: [UInt8]?
    /// The reason if nothing matches.
    private(set) var problem: BusURLError?

    /// - Parameters:
    ///   - interfaces: the interfaces of the bus.
    ///   - schemes: the app's schemes.
    init(_ url: String, interfaces: [InterfaceRow], schemes: [String]) {
        do throws(BusURLError) {
            let match = try interfaces.urlTable.resolve(try BusURL(url), schemes: schemes)
            (pattern, params) = (match.value, match.body())
        } catch {
            problem = error
        }
    }
}
