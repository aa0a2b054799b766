import StrataCore

/// Who gets which settings: in hello's answer, in `setUp`, and after a reload in `module/settings`.
extension BusCore {
    /// Refuses a hello that declares a secret for which the manifest has a plain value: everybody who
    /// reads the manifest would know it.
    func checkSecrets(_ hello: Hello, _ row: ModuleRecord?) throws(BusError) {
        guard let row = row?.row, let keys = hello.settings else { return }
        guard let key = settings.firstPlain(of: row, among: keys.filter(\.isSecret)) else { return }
        throw BusError(
            .badParams,
            "\(row.name) declares the setting \"\(key.name)\" as a secret, and the manifest has a plain value for it: "
                + "give it in the row's secrets, from a file or a variable")
    }

    /// The settings that a session gets, and how monitors see them.
    struct GivenSettings {
        var json: JSON
        /// Nil if there is no secret among them.
        var shown: JSON?
        var digests: [UInt64] = []
    }

    /// Returns the settings of a module's session, of an operator or of the launcher. A guest gets
    /// none.
    func settings(for peer: Peer, _ module: ModuleRecord?) -> GivenSettings {
        guard let module else { return GivenSettings(json: table.settings) }
        guard let row = module.row, let keys = peer.settings?.keys else {
            return GivenSettings(json: table.undeclaredSettings(of: module.row))
        }
        let values = settings.values(of: row, for: keys)
        var (all, shown) = ([JSON.Member](), [JSON.Member]())
        var hasSecret = false
        for (key, value) in zip(keys, values) {
            guard let value else { continue }
            all.append(.init(key.name, value))
            shown.append(.init(key.name, key.isSecret ? .string(AppTable.Secret.hidden) : value))
            if key.isSecret { hasSecret = true }
        }
        return GivenSettings(
            json: .object(all), shown: hasSecret ? .object(shown) : nil, digests: values.map(SettingTable.digest))
    }

    // MARK: after a reload

    /// The work of a batch while a light peer is connected, and otherwise; in keys that are compared,
    /// and in 64 bytes of bodies that are sent.
    private static let sharedBatch = 64
    private static let batch = 4_096

    /// Begins to compare the settings of all sessions with the new table.
    func settingsMayHaveChanged() {
        work.compareSettings(of: connections.inOrder.filter { $0.settings != nil }.map(\.number))
    }

    /// Compares those of the next sessions.
    func advanceSettings() {
        var left = isShared ? Self.sharedBatch : Self.batch
        while left > 0, let number = work.takeSettingsToCompare() {
            guard let peer = connections[number], let module = peer.module else { continue }
            left -= 1 + (peer.settings?.keys.count ?? 0) + (module.row?.settings.count ?? 0)
            left -= giveSettings(to: peer, module) / 64
        }
    }

    /// Does the same for all sessions that are left.
    func finishSettings() {
        while work.hasSettingsToCompare { advanceSettings() }
    }

    /// Calls a session at `module/settings` if its module has other values than the table. One whose
    /// `setUp` isn't done is compared then; one that ends keeps what it has.
    /// - Returns: the bytes that were sent.
    @discardableResult
    func giveSettings(to peer: Peer, _ module: ModuleRecord) -> Int {
        guard peer.isOpen, stage == .running, let keys = peer.settings?.keys, !keys.isEmpty,
            hasSetUp(peer, module)
        else { return 0 }
        let given = settings(for: peer, module)
        guard peer.settings?.changed(to: given.digests) == true else { return 0 }
        let body = (["settings": given.json] as JSON).encoded()
        callOwn(
            peer, to: "module/settings", body: body,
            shown: given.shown.map { (["settings": $0] as JSON).encoded() }, deadline: table.startup, .settings)
        return body.count
    }

    private func hasSetUp(_ peer: Peer, _ module: ModuleRecord) -> Bool {
        let step: ModuleLife.Step?
        if let successor = module.successor, successor.peer === peer {
            step = successor.step
        } else if module.peer === peer, case .live(let live) = module.life {
            step = live
        } else {
            step = nil
        }
        return switch step {
        case .setUp, .initializing, .initialized, .started: true
        case .joined, .settingUp, nil: false
        }
    }

    /// Handles the answer to `module/settings`. The values may have changed again meanwhile.
    func settingsAnswered(_ peer: Peer, _ answer: OwnAnswer) {
        guard peer.isOpen, let module = peer.module else { return }
        let hasTaken = if case .success = answer { true } else { false }
        peer.settings?.answered(hasTaken: hasTaken)
        giveSettings(to: peer, module)
    }

    // MARK: what nobody is shown

    /// Returns a module's error without its secrets, which it may quote.
    func withoutSecrets(_ error: BusError, of peer: Peer) -> BusError {
        guard let module = peer.module else { return error }
        let mask = SecretMask((module.row?.secrets ?? []) + module.formerSecrets)
        guard !mask.isEmpty else { return error }
        var masked = error
        masked.message = mask.masked(error.message)
        masked.body = mask.masked(error.body)
        return masked
    }

    /// Returns the body of the launcher's answer with a new table as monitors see it; nil if the
    /// answer is another one. A body that monitors don't show isn't read.
    func tableWithoutSecrets(_ body: UnsafeRawBufferPointer, _ call: CallPointer) -> [UInt8]? {
        guard call.pointee.kind == .own, case .table = calls.purpose(of: call), body.count <= FrameNote.largestBody,
            let json = try? JSON(parsing: body)
        else { return nil }
        return AppTable.withoutSecrets(json).encoded()
    }
}
