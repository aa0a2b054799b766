import StrataCore

/// URLs: what one leads to, and the checks of a call that are made for it.
extension Judge {
    private struct Mapping {
        var owner: AppTable.Row
        var url: AppTable.URLMapping
        /// Its place in the row's `urls`; beyond them where the module brings it.
        var place: Int
    }

    /// The opening of a URL.
    public func open(_ url: String, from module: String) -> Judgement {
        var judgement = Judgement("\(module) opens \(url)")
        guard let caller = index.row(module) else { return unknownModule(module, judgement) }
        var facts = ManifestFacts(.open, policy, from: caller)
        let mapping: Mapping
        do throws(BusURLError) {
            let bytes = try BusURL(url)
            mapping = try mappings.resolve(bytes, schemes: index.table.schemes).value
        } catch {
            facts.existence = .url(error.code)
            let schemes = manifest.problem(["schemes"], "")
            let place = error.code == .unknownScheme && schemes.line != nil ? schemes : nil
            judgement.add(.existence, facts.verdict(.existence), .init(error.message, place))
            return judgement
        }
        let owner = mapping.owner
        guard let (interface, action) = mapping.url.target else {
            facts.existence = .nobody
            judgement.add(
                .existence, facts.verdict(.existence), .init("\(mapping.url.to) is no Interface/action"))
            return judgement
        }
        let way = Way(interface: interface, action: action)
        facts.presence = presence(owner)
        serve(way, owner, &facts)
        judgement.ask(facts) { check, verdict in
            switch check {
            case .existence:
                .init(
                    "it matches \(mapping.url.host)\(mapping.url.path) of \(owner.name), which leads to \(mapping.url.to)",
                    place(owner, "urls", mapping.place))
            case .level: .init("opening a URL is free of levels: it names no module")
            case .declaration: .init("opening a URL needs none")
            default: serving(check, verdict, facts, way, owner, caller)
            }
        }
        return judgement
    }

    private var mappings: URLTable<Mapping> {
        var table = URLTable<Mapping>()
        for row in index.table.modules {
            for (place, url) in row.urls.enumerated() {
                guard let pattern = try? URLPattern(url.path) else { continue }
                // The first one has it; `check` tells of the other.
                try? table.add(pattern, host: url.host, value: Mapping(owner: row, url: url, place: place))
            }
        }
        return table
    }
}
