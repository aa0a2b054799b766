internal import FaultRecord
internal import Strata

/// The load that a module of the fault run makes: one request after another, of all kinds.
extension Worker {
    private static let weights: [(RequestKind, Int)] = [
        (.atOnce, 30), (.async, 12), (.large, 3), (.typed, 6), (.typedAsync, 6), (.open, 6), (.adapted, 5),
        (.authorized, 3), (.stream, 3), (.nested, 8), (.hurried, 4), (.cancelled, 4), (.instance, 4), (.report, 6),
        (.onDemand, 3), (.store, 3), (.guest, 2), (.bus, 2), (.event, 1), (.keyed, 14), (.described, 6),
    ]
    private static let callees = Role.rows.filter { $0.start != .onDemand }
    private static let modules = callees.filter { $0.player == .runtime }
    private static let wanted = Role.rows.filter { $0.start == .onDemand }
    /// Named several times, so that more of the requests have a key.
    private static let keyed = modules.filter { $0.replicas != nil }.flatMap { [Role](repeating: $0, count: 5) }
    private static let owners = modules.filter(\.hasInstances)

    func makeLoad() async {
        while board.phase == .start { try? await sleep(milliseconds: 20) }
        while isLoading {
            await request(generator.pick(weighted: Self.weights))
            try? await sleep(milliseconds: generator.number(0...Self.longestPause))
        }
    }

    /// The longest pause between an answer and the next request, in milliseconds.
    private static let longestPause = 70

    /// Makes one request of a kind, and waits for its outcome.
    private func request(_ kind: RequestKind) async {
        switch kind {
        case .cancelled: await cancelled()
        case .instance: await instance()
        default: await request(kind, madeFor: 0, kind)
        }
    }

    /// - Parameter how: the kind of request to make. `kind` is the kind that it counts as.
    func request(_ kind: RequestKind, madeFor parent: UInt64, _ how: RequestKind) async {
        let callee = callee(of: how)
        // Only requests to the bus have no callee, and these use no target.
        let target = callee ?? role
        let key = how.hasKey(to: target) ? UInt8(generator.number(1...Role.keys)) : 0
        await made(kind, of: callee, for: parent, key: key) { [self] number in
            switch how {
            case .atOnce, .onDemand: try await echo(target, "echo", number)
            case .async: try await echo(target, "wait", number)
            case .keyed: try await echo(target, "echo", number, key: "key \(key)")
            case .large: try await echo(target, "large", number, size: Self.largeBody)
            case .nested: try await echo(target, "nested", number)
            case .authorized: try await echo(target, "checked", number, key: key > 0 ? "key \(key)" : nil)
            case .hurried:
                try await echo(target, "slow", number, deadline: .milliseconds(generator.number(1...30)))
            case .cancelled: try await echo(target, "slow", number)
            case .guest:
                .of(
                    Digits.first(in: try await bus.call("Guest/echo", bytes: reply(number), deadline: .seconds(2))),
                    number)
            case .typed:
                .of(try await bus.call(PressContract.Press(number: number), deadline: patience).number, number)
            case .typedAsync:
                .of(try await bus.call(MillContract.Grind(number: number), deadline: patience).number, number)
            case .adapted:
                .of(try await bus.call(NotePress.Stamp(stampNumber: number), deadline: patience).stamped, number)
            case .store:
                .of(try await bus.call(StoreContract.Put(number: number), deadline: patience).number, number)
            case .open:
                .of(
                    Int64(number)
                        == (try await bus.open(
                            "faults://\(target.name.lowercased())/do/\(number)", deadline: patience))["n"]?.integer
                )
            // Store's disk may be full, and so may be its files.
            case .described where role.name == "Store": try await echo(target, "echo", number)
            case .described: try await copy(target, number)
            case .stream: try await stream(target, number)
            case .report: try await report(target, number)
            case .bus: .of((try await bus.call("bus/levels", deadline: patience))["levels"] != nil)
            case .event: .of(try await bus.emit("bell.rings", deadline: .seconds(1)).answer)
            case .create, .instance, .release: .wrong
            }
        }
    }

    /// Returns the role that a request of this kind goes to; nil for the bus.
    private func callee(of kind: RequestKind) -> Role? {
        switch kind {
        case .atOnce: generator.pick(Self.callees)
        case .typed, .adapted: Role.named("Press")
        case .typedAsync: Role.named("Mill")
        case .store: Role.named("Store")
        case .keyed: Role.named("Pool")
        // Descriptors stay on their node.
        case .described:
            generator.pick(
                Self.modules.filter { $0.name != "Store" && member.placement.homes(of: $0) == [member.node] })
        case .guest: Role.named("guest")
        case .onDemand: generator.pick(Self.wanted)
        case .report: generator.pick(Self.modules.filter { $0.rank <= role.rank })
        case .authorized: generator.pick(Self.modules + Self.keyed)
        case .bus, .event: nil
        default: generator.pick(Self.modules)
        }
    }

    private var patience: Duration { member.patience }

    private func echo(
        _ target: Role, _ action: String, _ number: UInt64, size: Int = 0, deadline: Duration? = nil,
        key: String? = nil
    ) async throws -> Outcome {
        let answer = try await bus.call(
            "\(target.name)/\(action)", bytes: reply(number, size), deadline: deadline ?? patience, key: key)
        return .of(Digits.first(in: answer), number)
    }

    /// Sends the number in a file, and expects it in another one.
    private func copy(_ target: Role, _ number: UInt64) async throws -> Outcome {
        let file = try NumberFile.make(number, in: member.folder)
        let answer = try await bus.call("\(target.name)/copy", nil, descriptors: [file], deadline: patience)
        return .of(
            answer.descriptors.count == 1 && NumberFile.number(in: answer.descriptors[0]) == number
                && answer.value["n"]?.integer == Int64(number))
    }

    private func stream(_ target: Role, _ number: UInt64) async throws -> Outcome {
        let leavesAt = generator.number(0...3) == 0 ? Int64(generator.number(1...19)) : 0
        var index: Int64 = 0
        let params: JSON = ["n": .integer(Int64(number))]
        for try await element in try bus.stream("\(target.name)/count", params, deadline: patience) {
            index += 1
            guard element["n"]?.integer == Int64(number), element["i"]?.integer == index else { return .wrong }
            if index == leavesAt { return .gaveUp }
        }
        return .of(index == Self.streamLength)
    }

    private func report(_ target: Role, _ number: UInt64) async throws -> Outcome {
        let observers = try await bus.report(
            "note", ["n": .integer(Int64(number))], to: target.name, deadline: patience)
        return .reply(UInt32(observers))
    }

    /// Makes a request whose task is cancelled midway.
    private func cancelled() async {
        let task = try? bus.background("cancelled request") { [self] in
            await request(.cancelled, madeFor: 0, .cancelled)
        }
        try? await sleep(milliseconds: generator.number(0...6))
        task?.cancel()
        await task?.value
    }

    /// Creates an instance, calls it three times, and releases it.
    private func instance() async {
        // An instance can be used on its owner's node only.
        let near = Self.owners.filter { member.placement.homes(of: $0).contains(member.node) }
        let owner = generator.pick(near)
        var instance: Instance?
        await made(.create, of: owner, for: 0) { [self] _ in
            instance = try await bus.create(owner.instances, deadline: patience)
            return .reply(1)
        }
        guard let instance else { return }
        for _ in 0..<3 {
            await made(.instance, of: owner, for: 0) { number in
                let answer = try await instance.call(
                    "add", ["n": .integer(Int64(number))], deadline: patience)
                return .of(answer["n"]?.integer == Int64(number))
            }
        }
        await made(.release, of: nil, for: 0) { _ in
            try await instance.release()
            return .reply(1)
        }
    }
}
