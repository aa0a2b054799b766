/// One thing that the kit tries.
struct KitCheck {
    /// The rule, as a sentence.
    let name: String
    let section: Section
    /// What the client's hello must offer, as `ClientOffers.has` names it.
    let needs: [String]
    let body: Body

    enum Body {
        /// With the program of the check before, which is ready.
        case ready((KitSession) throws(Finding) -> Void)
        /// With a program of its own.
        case own((KitTrial) throws(Finding) -> Void)
    }

    /// Whether it continues with the program of the check before.
    var isShared: Bool { if case .ready = body { true } else { false } }

    static func ready(
        _ section: Section, _ name: String, needs: [String] = [], _ body: @escaping (KitSession) throws(Finding) -> Void
    ) -> KitCheck {
        KitCheck(name: name, section: section, needs: ["Probe/echo"] + needs, body: .ready(body))
    }

    static func own(
        _ section: Section, _ name: String, needs: [String] = [], _ body: @escaping (KitTrial) throws(Finding) -> Void
    ) -> KitCheck {
        KitCheck(name: name, section: section, needs: needs, body: .own(body))
    }

    /// All of them, in the order of the page's sections.
    static var all: [KitCheck] {
        let checks =
            frames + headers + kinds + sessions + calls + instances + streams + notifications + lifeCycle + recommended
        return Section.allCases.flatMap { section in checks.filter { $0.section == section } }
    }
}
