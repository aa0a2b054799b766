import StrataCore

/// The judgement of URLs of other apps: whether the row opens the scheme. What follows is the other
/// app's to decide.
extension Judge {
    /// Whether a URL has another scheme than this app's, so that no program of it matters.
    public func isElsewhere(_ url: String) -> Bool {
        guard let scheme = try? BusURL(url).scheme else { return false }
        return !index.table.schemes.contains { $0.lowercased() == scheme }
    }

    /// Judges the opening of a URL whose scheme isn't this app's.
    /// - Parameters:
    ///   - judgement: the judgement so far.
    ///   - error: the bus's error if the caller's row doesn't open the scheme.
    func openElsewhere(
        _ url: String, from caller: AppTable.Row, _ judgement: Judgement, _ error: BusURLError
    ) -> Judgement {
        var judgement = judgement
        var facts = ManifestFacts(.open, policy, from: caller)
        guard let scheme = try? BusURL(url).scheme, let opened = caller.opens.first(where: { $0.scheme == scheme })
        else {
            facts.existence = .url(error.code)
            judgement.add(.existence, facts.verdict(.existence), unlisted(url, caller, error))
            return judgement
        }
        let app = opened.app.text + (opened.app.user.map { " of user \($0)" } ?? "")
        judgement.ask(facts) { check, _ in
            switch check {
            case .existence:
                .init("\(caller.name) opens \(scheme) at \(app)", place(caller, opens: scheme))
            case .level: .init("levels don't apply to opening a URL: it names no module")
            case .declaration: .init("opening a URL needs none")
            case .owner:
                .init(
                    "\(app) must be up, list the user of this app's broker in openableBy, and map the URL with public: "
                        + "true; else the answer is \(ErrorCode.unavailable) or \(ErrorCode.forbidden)")
            default: nil
            }
        }
        return judgement
    }

    private func unlisted(_ url: String, _ caller: AppTable.Row, _ error: BusURLError) -> Judgement.Finding {
        let schemes = manifest.problem(["schemes"], "")
        let own = schemes.line == nil ? nil : schemes
        guard let scheme = try? BusURL(url).scheme else { return .init(error.message, own) }
        guard let other = index.table.modules.first(where: { $0.opens.contains { $0.scheme == scheme } }),
            let opened = other.opens.first(where: { $0.scheme == scheme })
        else {
            return .init(
                error.message, own,
                changes: [
                    "list \(scheme) in schemes, if this app maps its URLs",
                    "add \(scheme): {app: NAME} to opens of \(caller.name), if it is another app's",
                ])
        }
        return .init(
            "\(scheme) is a scheme of \(opened.app.text), which \(other.name) opens; the row of \(caller.name) doesn't "
                + "list it in opens", place(other, opens: scheme),
            changes: ["add \(scheme) to opens of \(caller.name), as the row of \(other.name) has it"])
    }

    private func place(_ row: AppTable.Row, opens scheme: String) -> ManifestError {
        place(row, "opens", .key(scheme))
    }
}
