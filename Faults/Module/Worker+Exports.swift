internal import FaultRecord
internal import Strata

/// The interface of a module in the fault run. Each handler logs its begin and its end, with the
/// number that its caller gave.
extension Worker {
    static let largeBody = 300 << 10

    func export(_ exports: inout Exports) {
        let name = role.name
        exports.bytes("\(name)/echo") { [self] call in handled(call.body) { self.reply($0) } }
        exports.bytes("\(name)/large") { [self] call in handled(call.body) { self.reply($0, Self.largeBody) } }
        exports.bytes("\(name)/wait") { [self] (call) async throws in
            try await handled(call.body) {
                try await sleep(milliseconds: 1)
                return self.reply($0)
            }
        }
        exports.bytes("\(name)/slow") { [self] (call) async throws in
            try await handled(call.body) {
                try await sleep(milliseconds: 40)
                return self.reply($0)
            }
        }
        exports.bytes("\(name)/nested") { [self] (call) async throws in
            await handled(call.body) { number in
                await self.request(.nested, madeFor: number, .atOnce)
                return self.reply(number)
            }
        }
        exports.bytes("\(name)/checked", auth: true) { [self] call in handled(call.body) { self.reply($0) } }
        exports.action("\(name)/copy", descriptors: .init(params: 1, reply: 1)) { [self] call in
            guard let number = NumberFile.number(in: call.descriptors.first) else {
                throw ModuleError(.failed, "no number came")
            }
            return try handled(number) { number in
                let copy = try NumberFile.make(number, in: member.folder)
                return WithDescriptors(["n": .integer(Int64(number))], [copy])
            }
        }
        exports.stream("\(name)/count") { [self] (call) async throws in self.count(Digits.first(in: call.body)) }
        exports.url(name.lowercased(), "/do/:number", to: "\(name)/echo")
        exports.observe("note") { [self] delivery in
            guard delivery.isReport else { return }
            handled(delivery.body) { _ in }
        }
        exports.event("bell.rings") { _ in }
        exports.event("app.nodeLost") { [self] event in note(.nodeLost, event) }
        exports.event("app.nodeBack") { [self] event in note(.nodeBack, event) }
        if role.hasInstances { exportInstances(&exports) }
        exportContracts(&exports)
        for name in role.keepsAll { observe(name == Role.adapter ? Role.adaptedNews : "\(name).news", [], &exports) }
        for name in role.keepsLatest { observe("\(name).news", .latest, &exports) }
        for name in role.shares { observe("\(name).news", .shared, &exports) }
        if role.observesAll { observe(Role.allNews, .pattern, &exports) }
    }

    private func exportContracts(_ exports: inout Exports) {
        switch role.name {
        case "Press":
            exports.action(PressContract.Press.self) { [self] request in
                handled(request.number) { PressContract.Press.Reply(number: $0) }
            }
        case "Mill":
            exports.action(MillContract.Grind.self) { [self] request in
                try await handled(request.number) {
                    try await sleep(milliseconds: 2)
                    return MillContract.Grind.Reply(number: $0)
                }
            }
        case "Store":
            let file = store
            exports.action(StoreContract.Put.self) { [self] request in
                try await handled(request.number) { number in
                    try await blocking(label: "disk") { try file.append(request.text) }
                    return StoreContract.Put.Reply(number: number)
                }
            }
        case "Guard": exports.action("Guard/authorize") { _ in ["allow": true] }
        default: break
        }
    }

    /// An instance, which counts its calls.
    private final class Seat { var calls = 0 }

    private func exportInstances(_ exports: inout Exports) {
        exports.instances(of: role.instances, make: { _ in Seat() }) { list in
            list.bytes("add") { [self] (seat: Seat, call: Call) in
                seat.calls += 1
                return handled(call.body) { self.reply($0) }
            }
        }
    }

    /// A stream of 20 elements.
    private func count(_ number: UInt64) -> AsyncThrowingStream<JSON, any Error> {
        log.write(Record(.started, number: number))
        var index: Int64 = 0
        return AsyncThrowingStream { @ModuleActor [self] in
            if index % 8 == 7 { try await sleep(milliseconds: 1) }
            guard index < Self.streamLength else {
                log.write(Record(.ended, number: number))
                return nil
            }
            index += 1
            return ["n": .integer(Int64(number)), "i": .integer(index)]
        }
    }

    static let streamLength: Int64 = 20

    private func observe(_ name: String, _ traits: NoticeTraits, _ exports: inout Exports) {
        let keep: Keep = traits.contains(.latest) ? .latest : .all
        exports.observe(name, keep: keep, share: traits.contains(.shared)) { [self] delivery in
            let numbers = Digits.first(3, in: delivery.body)
            guard numbers.count == 3, let index = Role.newsIndex(ofNotice: delivery.name) else { return }
            let traits = delivery.isRetained ? traits.union(.retained) : traits
            log.write(
                Record(
                    .noticed, kind: index, ran: traits.rawValue, extra: UInt32(clamping: delivery.missed),
                    number: numbers[0] << 32 | numbers[1], detail: numbers[2]))
        }
    }

    // MARK: Logging

    private func note(_ what: Record.Event, _ event: Call) {
        guard let name = (try? event.params)?["node"]?.string, let node = member.placement.node(named: name) else {
            return
        }
        log.write(Record(what, kind: node))
    }

    private func handled<Result>(_ body: [UInt8], _ work: (UInt64) throws -> Result) rethrows -> Result {
        try handled(Digits.first(in: body), work)
    }

    private func handled<Result>(_ number: UInt64, _ work: (UInt64) throws -> Result) rethrows -> Result {
        log.write(Record(.started, number: number))
        defer { log.write(Record(.ended, number: number)) }
        return try work(number)
    }

    private func handled<Result>(_ body: [UInt8], _ work: (UInt64) async throws -> Result) async rethrows -> Result {
        try await handled(Digits.first(in: body), work)
    }

    private func handled<Result>(_ number: UInt64, _ work: (UInt64) async throws -> Result) async rethrows -> Result {
        log.write(Record(.started, number: number))
        defer { log.write(Record(.ended, number: number)) }
        return try await work(number)
    }

    func reply(_ number: UInt64, _ size: Int = 0) -> [UInt8] {
        var bytes = Array("{\"n\":\(number),\"pad\":\"".utf8)
        bytes += [UInt8](repeating: 0x70, count: size)
        bytes += [0x22, 0x7D]
        return bytes
    }
}
