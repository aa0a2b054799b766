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

    private func end(of instance: String) -> InstanceEnd? {
        let parts = instance.split(separator: "#")
        guard parts.count == 2, let number = UInt64(parts[1]) else { return nil }
        return offers.exports.instances[String(parts[0])]?.release(number)
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
    /// Releases an instance whose last reference is gone.
    func releaseLater(_ lease: InstanceLease) {
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
