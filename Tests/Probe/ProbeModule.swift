import Strata

/// The probe of docs/conformance.md, with the runtime in Swift.
final class ProbeModule: Module {
    static let name = "Probe"
    private let bus: Bus
    private var steps: [JSON] = []
    private var notices: [JSON] = []
    private var cancels: Int64 = 0
    private var observations: [(name: String, observation: Observation)] = []
    private var crates: [String: Instance] = [:]

    init(bus: Bus) { self.bus = bus }

    func register(_ exports: inout Exports) {
        exports.settings(ProbeSettings.self)
        exports.settingsChanged(ProbeSettings.self) { [self] _ in steps.append("settings") }
        exports.event("probe.event") { [self] _ in steps.append("event probe.event") }
        exports.observe("probe.begun") { [self] delivery in try keep(delivery) }
        exports.action("Probe/settings") { [bus] _ in
            ["probe.word": .string(bus.settings(as: ProbeSettings.self).word)]
        }
        exports.action("Probe/steps") { [self] _ in .array(steps) }
        exports.action("Probe/cancels") { [self] _ in .integer(cancels) }
        exports.action("Probe/notices") { [self] _ in
            defer { notices = [] }
            return .array(notices)
        }
        answering(&exports)
        requests(&exports)
        notifications(&exports)
        instances(&exports)
    }

    func setUp(_: Context) { steps.append("setUp") }
    func initialize() { steps.append("initialize") }
    func didStart() { steps.append("didStart") }

    private func answering(_ exports: inout Exports) {
        exports.action("Probe/echo") { call in try call.params }
        exports.action("Probe/fail") { call -> JSON in
            let wanted = try call.params
            throw ModuleError(
                ErrorCode(wanted["code"]?.string ?? ""), wanted["message"]?.string ?? "",
                ran: wanted["ran"]?.string.flatMap(BusError.Ran.init), body: wanted["body"])
        }
        exports.action("Probe/hang") { [self] _ in
            do { while true { try await Strata.sleep(milliseconds: 3_600_000) } } catch {
                cancels += 1
                throw error
            }
        }
        exports.stream("Probe/count") { [self] call in
            let most = try call.params["to"]?.integer ?? 0
            let counting = Counting { [self] in cancels += 1 }
            return AsyncThrowingStream { @ModuleActor () -> JSON? in
                guard counting.number < most else {
                    counting.isDone = true
                    return nil
                }
                counting.number += 1
                return .integer(counting.number)
            }
        }
    }

    private func requests(_ exports: inout Exports) {
        exports.action("Probe/call") { [self] call in
            let wanted = try call.params
            let (to, params) = (wanted["to"]?.string ?? "", wanted["params"] ?? nil)
            let deadline = wanted["deadline"]?.integer.map { Duration.milliseconds($0) }
            return await outcome {
                guard let slash = to.firstIndex(of: "/"), let crate = crates[String(to[..<slash])] else {
                    return try await bus.call(to, params, deadline: deadline)
                }
                return try await crate.call(String(to[to.index(after: slash)...]), params, deadline: deadline)
            }
        }
        exports.action("Probe/open") { [self] call in
            let url = try call.params["url"]?.string ?? ""
            return await outcome { try await bus.open(url) }
        }
        exports.action("Probe/collect") { [self] call in
            let wanted = try call.params
            let credit = Int(wanted["credit"]?.integer ?? 1)
            var parts: [JSON] = []
            let end = await outcome {
                for try await part in try bus.stream(
                    wanted["to"]?.string ?? "", wanted["params"] ?? nil, credit: credit)
                {
                    parts.append(part)
                    if Int64(parts.count) == wanted["take"]?.integer { break }
                }
                return nil
            }
            let isLeft = Int64(parts.count) == wanted["take"]?.integer
            return .object([.init("parts", .array(parts))] + (isLeft ? [] : end.object ?? []))
        }
    }

    private func notifications(_ exports: inout Exports) {
        exports.action("Probe/broadcast") { [bus] call in
            let wanted = try call.params
            let count = try await bus.broadcastAndCount(
                wanted["name"]?.string ?? "", wanted["params"] ?? nil, object: wanted["object"]?.string)
            return ["recipients": .integer(Int64(count))]
        }
        exports.action("Probe/report") { [self] call in
            let wanted = try call.params
            return await outcome {
                let count = try await bus.report(
                    wanted["name"]?.string ?? "", wanted["params"] ?? nil, object: wanted["object"]?.string,
                    to: wanted["to"]?.string ?? "")
                return ["observers": .integer(Int64(count))]
            }
        }
        exports.action("Probe/observe") { [self] call in
            let wanted = try call.params
            let name = wanted["name"]?.string ?? ""
            let keep: Keep = wanted["keep"]?.string == "latest" ? .latest : .all
            let observation = try await bus.observe(name, object: wanted["object"]?.string, keep: keep) {
                [self] delivery in try self.keep(delivery)
            }
            observations.append((name, observation))
            return nil
        }
        exports.action("Probe/unobserve") { [self] call in
            let name = try call.params["name"]?.string
            for one in observations where one.name == name { try await one.observation.end() }
            observations.removeAll { $0.name == name }
            return nil
        }
    }

    private func instances(_ exports: inout Exports) {
        exports.instances(
            of: Box.self,
            make: { [self] new in
                if new.params["refuse"]?.bool == true { throw ModuleError("Probe.no-box", "the kit wants it") }
                let box = BoxObject(number: new.name.split(separator: "#").last.map(String.init) ?? "")
                steps.append(.string("created \(box.number)"))
                return box
            }, released: { [self] box in steps.append(.string("released \(box.number)")) },
            actions: { box in
                box.action("put") { object, call in
                    object.kept = try call.params
                    return nil
                }
                box.action("get") { object, _ in object.kept }
            })
        exports.action("Probe/create") { [self] call in
            let wanted = try call.params
            return await outcome {
                let crate = try await bus.create(wanted["interface"]?.string ?? "", wanted["params"] ?? nil)
                crates[crate.name] = crate
                try bus.background { [self] in
                    await crate.ended()
                    steps.append(.string("ended \(crate.name)"))
                }
                return ["instance": .string(crate.name)]
            }
        }
        exports.action("Probe/release") { [self] call in
            try await crates.removeValue(forKey: try call.params["instance"]?.string ?? "")?.release()
            return nil
        }
    }

    private func keep(_ delivery: Delivery) throws {
        let params = try delivery.content
        notices.append([
            "name": .string(delivery.name), "object": delivery.object.map { .string($0) } ?? nil, "params": params,
            "missed": .integer(Int64(delivery.missed)),
        ])
        if let code = params["fail"]?.string { throw ModuleError(ErrorCode(code), "the kit wants it") }
    }

    private func outcome(_ request: @ModuleActor () async throws -> JSON) async -> JSON {
        do { return ["reply": try await request()] } catch let error as BusError {
            var members: [JSON.Member] = [
                .init("code", .string(error.code.rawValue)), .init("message", .string(error.message)),
                .init("ran", .string(error.ran.rawValue)),
            ]
            if let body = try? JSON(parsing: error.body) { members.append(.init("body", body)) }
            return ["error": .object(members)]
        } catch { return ["error": ["code": "failed", "message": .string("\(error)"), "ran": "yes"]] }
    }
}

struct ProbeSettings: ModuleSettings {
    var word: String
    enum CodingKeys: String, CodingKey { case word = "probe.word" }
}

enum Box: Interface { static let name = "Box" }

/// An instance, which keeps what is put into it.
final class BoxObject {
    let number: String
    var kept: JSON = nil
    init(number: String) { self.number = number }
}

/// A stream's state, which notes that the stream was left before its end.
@ModuleActor
private final class Counting {
    var number: Int64 = 0
    var isDone = false
    private let left: @ModuleActor () -> Void
    init(left: @escaping @ModuleActor () -> Void) { self.left = left }
    isolated deinit { if !isDone { left() } }
}
