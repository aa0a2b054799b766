internal import StrataCore

extension ModuleRuntime {
    /// Handles `module/released`: an instance of this module has ended. The answer is sent after
    /// the instance's own cleanup, so that the broker limits the time for it.
    func instanceReleased(_ call: IncomingCall, _ body: UnsafeRawBufferPointer) {
        guard let end = end(of: (try? JSON(parsing: body))?["instance"]?.string ?? "") else {
            // An instance that was never called has no object.
            call.reply(Array("{}".utf8))
            return
        }
        call.run { call in
            do { try await end.work() } catch {
                ModuleLog.logger.error("\(end.name) failed: \(error)")
                throw error
            }
            call.reply(Array("{}".utf8))
        }
    }

    /// Handles `module/create`: another module wants an instance. An error refuses it.
    func instanceCreated(_ call: IncomingCall, _ meta: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer) {
        let params = (try? JSON(parsing: body)) ?? .null
        let creator = (try? JSON(parsing: meta))?["from"]?.string ?? ""
        guard let (set, number) = instance(params["instance"]?.string ?? "") else {
            return call.fail(ModuleError(.unknownAction, "\(name) has no such instances"))
        }
        do {
            try set.create(number, creator: creator, params: params["params"] ?? .null)
            call.reply(Array("{}".utf8))
        } catch {
            call.fail(error)
        }
    }

    private func end(of instance: String) -> InstanceEnd? {
        self.instance(instance).flatMap { set, number in set.release(number) }
    }

    private func instance(_ name: String) -> (any InstanceSet, UInt64)? {
        let parts = name.split(separator: "#")
        guard parts.count == 2, let number = UInt64(parts[1]) else { return nil }
        return offers.exports.instances[String(parts[0])].map { ($0, number) }
    }

    /// Ends all instances, because the connection that they belong to has ended.
    func endInstances() {
        for set in offers.exports.instances.values { end(all: set) }
    }

    func end(all instances: any InstanceSet) {
        for end in instances.releaseAll() {
            run(
                scope: CallScope(name: end.name, in: surroundings),
                { if case .failure(let error) = $0 { ModuleLog.logger.error("\(end.name) failed: \(error)") } },
                end.work)
        }
    }
}

// MARK: Instances that this module has created

extension ModuleRuntime {
    /// Handles `module/instanceEnded`: an instance that this module has created has ended with its
    /// owner.
    func instanceEnded(_ call: IncomingCall, _ body: UnsafeRawBufferPointer) {
        let name = (try? JSON(parsing: body))?["instance"]?.string ?? ""
        leases.removeValue(forKey: name)?.lease?.end()
        call.reply(Array("{}".utf8))
    }

    /// Ends all instances that this module has created, because the connection has ended.
    func endLeases() {
        let ended = leases.values
        leases = [:]
        for entry in ended { entry.lease?.end() }
    }

    /// Releases an instance whose last reference is gone.
    func releaseLater(_ lease: InstanceLease) {
        leases[lease.name] = nil
        guard lease.release() != nil else { return }
        releases.add(lease.name)
        releaseMore()
    }

    /// Releases the next instance at the broker. If there is no room for the request, the release
    /// waits for the next reply or creation.
    func releaseMore() {
        guard let session = connection.session, let name = releases.next else { return }
        let body = (["instance": .string(name)] as JSON).encoded()
        let id = try? body.withUnsafeBytes { body throws(BusError) in
            try session.request(
                .call("bus/release"), body, scope: nil,
                .callback { [unowned self] _ in
                    self.releases.answered()
                    self.releaseMore()
                })
        }
        if id != nil { releases.asked() }
    }
}
