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
        let mapping: Mapping
        do throws(BusURLError) {
            let bytes = try BusURL(url)
            mapping = try mappings.resolve(bytes, schemes: index.table.schemes).value
        } catch {
            let schemes = manifest.problem(["schemes"], "")
            judgement.refuse(
                "existence", ErrorCode(error.code.rawValue), error.message,
                error.code == .unknownScheme && schemes.line != nil ? schemes : nil)
            return judgement
        }
        let owner = mapping.owner
        judgement.add(
            "existence", .passed,
            "it matches \(mapping.url.host)\(mapping.url.path) of \(owner.name), which leads to \(mapping.url.to)",
            place(owner, "urls", mapping.place))
        guard let (interface, action) = mapping.url.target else {
            judgement.refuse("existence", .unknownInterface, "\(mapping.url.to) is no Interface/action")
            return judgement
        }
        judgement.add("level", .free, "opening a URL is free of levels: it names no module")
        judgement.add("declaration", .free, "opening a URL needs none")
        running(owner, &judgement)
        if actions(interface, action, false, owner, &judgement) {
            authorization(interface, action, owner, caller, isOpen: true, &judgement)
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
