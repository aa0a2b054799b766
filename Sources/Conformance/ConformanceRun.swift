import StrataCore

/// Tries a client against the protocol: starts a program that uses it, and plays the broker.
public struct ConformanceRun {
    /// How many checks had which end.
    public struct Count: Equatable, Sendable {
        public var passed = 0
        public var failed = 0
        /// Checks of what the client's hello doesn't offer.
        public var leftOut = 0
    }

    private let words: [String]
    private let sections: Set<Section>
    private let patience: Duration
    private let print: (String) -> Void

    /// The names of the sections that have checks.
    public static var sectionNames: [String] { Section.allCases.map(\.rawValue) }

    /// - Parameters:
    ///   - words: the program's path, followed by its arguments.
    ///   - sections: those to try, of `sectionNames`; none for all.
    ///   - patience: how long the client has for each step of a check.
    ///   - print: called with each line for people.
    public init(
        _ words: [String], sections: [String] = [], patience: Duration, print: @escaping (String) -> Void
    ) {
        self.words = words
        self.sections = Set(sections.compactMap(Section.init))
        self.patience = patience
        self.print = print
    }

    /// Makes all checks. Blocks; takes over SIGINT and SIGTERM of this thread.
    /// - Throws: if the program can't be tried at all, or a signal came.
    public func run() throws(ConformanceError) -> Count {
        let place = try KitPlace()
        let offers = try offers(place)
        var count = Count()
        var shared: KitTrial?
        defer { shared?.end() }
        var section: Section?
        for check in KitCheck.all where sections.isEmpty || sections.contains(check.section) {
            if section != check.section { print(check.section.title) }
            section = check.section
            let missing = check.needs.filter { !offers.has($0) }
            guard missing.isEmpty else {
                count.leftOut += 1
                print("  left out  \(check.name): hello doesn't have \(missing.joined(separator: ", "))")
                continue
            }
            let trial = check.isShared ? shared ?? newTrial(place) : newTrial(place)
            if !check.isShared { shared?.end() }
            shared = nil
            do throws(Finding) {
                try make(check, trial)
                count.passed += 1
                print("  ok        \(check.name)")
                if check.isShared { shared = trial } else { trial.end() }
            } catch {
                trial.end()
                guard !error.isInterruption else { throw ConformanceError(error.message) }
                count.failed += 1
                show(error, check, trial)
            }
        }
        return count
    }

    private func newTrial(_ place: KitPlace) -> KitTrial { KitTrial(words, in: place, patience: patience) }

    private func make(_ check: KitCheck, _ trial: KitTrial) throws(Finding) {
        switch check.body {
        case .ready(let body):
            trial.begin()
            let session: KitSession = if let running = trial.session { running } else { try trial.ready() }
            try body(session)
        case .own(let body): try body(trial)
        }
    }

    /// Starts the program once, to see what it offers.
    private func offers(_ place: KitPlace) throws(ConformanceError) -> ClientOffers {
        let trial = newTrial(place)
        defer { trial.end() }
        do throws(Finding) {
            let program = try trial.start()
            do throws(Finding) {
                let offers = try trial.connect().offers
                guard offers.has("Probe/echo") else {
                    throw Finding("its hello has no interface Probe with the action echo: see docs/conformance.md")
                }
                return offers
            } catch {
                program.readOutput()
                let said = String(decoding: program.errors.suffix(2_000), as: UTF8.self)
                throw Finding(error.message + (said.isEmpty ? "" : "\nit wrote:\n\(Printable.text(said))"))
            }
        } catch { throw ConformanceError(error.message) }
    }

    private func show(_ finding: Finding, _ check: KitCheck, _ trial: KitTrial) {
        print("  FAILED    \(check.name)")
        let other = finding.section.map { $0 == check.section ? "" : " (\($0.title))" } ?? ""
        print("            \(Printable.line(finding.message))\(other)")
        if trial.earlier > 0 { print("            … \(trial.earlier) lines before these") }
        for line in trial.story { print("            \(line)") }
        guard let errors = trial.lastErrors, !errors.isEmpty else { return }
        print("            it wrote: \(Printable.output(String(decoding: errors.suffix(1_000), as: UTF8.self)))")
    }
}
