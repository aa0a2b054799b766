import StrataCore

/// The answer of `bus/interfaces`, made in parts. Something that changes meanwhile may be listed as
/// it was or as it is.
final class InterfaceListing {
    /// The most entries in a part, from one interface or from one module's `requires`.
    private static let entries = 16

    /// The contents of the next part.
    private enum Step {
        case requires
        case head
        case actions
        case urls
        case requiredBy
        case end
        case done
    }

    private unowned let bus: BusCore
    private let modules: [ModuleRecord]
    private let interfaces: [InterfaceRecord]
    private var step = Step.requires
    /// The index of the next module or interface.
    private var place = 0
    /// The index of its next entry.
    private var entry = 0
    private var isBehindAnother = false
    /// The indexes of the modules that require each interface, in start order.
    private var requirers: [String: [Int]] = [:]
    /// For each owner, the URLs that lead to each of its interfaces.
    private var urlsByOwner: [Int: [String: [URLTarget]]] = [:]
    private var actions: [InterfaceRecord.Action] = []
    private var urls: [URLTarget] = []
    private var requiredBy: [Int] = []

    init(_ bus: BusCore) {
        self.bus = bus
        modules = bus.modules.inStartOrder
        interfaces = bus.routes.allInterfaces
    }

    /// - Returns: false if there is no further part.
    func appendPart(to bytes: inout [UInt8]) -> Bool {
        switch step {
        case .requires: lookThroughRequires(&bytes)
        case .head: appendHead(to: &bytes)
        case .actions:
            append(actions, to: &bytes, before: "],\"urls\":[", next: .urls) { action, bytes in
                let described = JSON.present([
                    "name": .string(action.name), "auth": .bool(action.needsAuthorization),
                    "stream": action.isStream ? true : nil, "descriptors": action.descriptors.json,
                ])
                described.write(to: &bytes)
            }
        case .urls:
            append(urls, to: &bytes, before: "],\"requiredBy\":[", next: .requiredBy) { url, bytes in
                let described: JSON = [
                    "host": .string(url.host), "path": .string(url.pattern.text), "to": .string(url.to),
                ]
                described.write(to: &bytes)
            }
        case .requiredBy:
            append(requiredBy, to: &bytes, before: "]}", next: .head) { [modules] place, bytes in
                JSON.write(modules[place].name, to: &bytes)
            }
        case .end:
            bytes.append(contentsOf: "]}".utf8)
            step = .done
        case .done: return false
        }
        return true
    }

    /// Notes some of the interfaces that a module requires.
    private func lookThroughRequires(_ bytes: inout [UInt8]) {
        guard place < modules.count else {
            bytes.append(contentsOf: "{\"interfaces\":[".utf8)
            (step, place, entry) = (.head, 0, 0)
            return
        }
        let module = modules[place]
        let ofRow = module.row?.requires ?? []
        let count = ofRow.count + module.session.requires.count
        let end = min(count, entry + Self.entries)
        for index in entry..<max(entry, end) {
            let name = (index < ofRow.count ? ofRow[index] : module.session.requires[index - ofRow.count]).name
            // A module may require an interface in its row and in its hello.
            guard bus.routes.interface(name) != nil, requirers[name]?.last != place else { continue }
            requirers[name, default: []].append(place)
        }
        entry = end
        if end == count { (place, entry) = (place + 1, 0) }
    }

    private func appendHead(to bytes: inout [UInt8]) {
        guard place < interfaces.count else {
            step = .end
            return
        }
        let interface = interfaces[place]
        place += 1
        // The interface may have been removed meanwhile.
        guard bus.routes.interface(interface.name) === interface else { return }
        if isBehindAnother { bytes.append(UInt8(ascii: ",")) }
        isBehindAnother = true
        let head = JSON.present([
            "name": .string(interface.name), "module": .string(interface.owner.name),
            "instances": .string(interface.instances.rawValue),
            "version": interface.version.map { .string($0.description) }, "actions": [],
        ])
        head.write(to: &bytes)
        // Removes `]}`, because the actions follow in parts of their own.
        bytes.removeLast(2)
        actions = interface.actions ?? []
        urls = urls(of: interface).sorted { ($0.host, $0.pattern.text) < ($1.host, $1.pattern.text) }
        requiredBy = requirers[interface.name] ?? []
        step = .actions
    }

    /// Appends the next entries of a list. After the last one it also appends the text before the
    /// next list.
    private func append<Entry>(
        _ list: [Entry], to bytes: inout [UInt8], before text: StaticString, next: Step,
        _ append: (Entry, inout [UInt8]) -> Void
    ) {
        let end = min(list.count, entry + Self.entries)
        for index in entry..<end {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            append(list[index], &bytes)
        }
        entry = end
        guard end == list.count else { return }
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
        (step, entry) = (next, 0)
    }

    /// Returns the URLs of the owner's session, or of its replicas' sessions, then the URLs that only its row maps.
    private func urls(of interface: InterfaceRecord) -> [URLTarget] {
        let owner = interface.owner
        if urlsByOwner[owner.number] == nil {
            // Replicas share what they bring, and have equal rows.
            var seen: Set<ObjectIdentifier> = []
            let live = owner.bringers.flatMap(\.session.urls).filter { seen.insert(ObjectIdentifier($0)).inserted }
            let declared = (owner.members.first?.mappings ?? []).compactMap { mapping -> URLTarget? in
                let target = bus.routes.target(mapping)
                return target?.owner === owner && target?.isLive == false ? target : nil
            }
            urlsByOwner[owner.number] = Dictionary(grouping: live + declared, by: \.interface)
        }
        return urlsByOwner[owner.number]?[interface.name] ?? []
    }
}
