internal import StrataCore

/// The value of a property at its owner, which exports it with `Exports.property`.
///
///     let volume = PropertyValue(40)
///     exports.property(Player.Volume.self, from: volume)
///     try volume.set(50)
///
/// Observers get the first value when the module's `setUp` is done, then each change, and the value
/// again after a lost connection.
@ModuleActor
public final class PropertyValue<Value: Codable & Sendable & Equatable> {
    /// The present value.
    public private(set) var value: Value
    /// The name of the broadcast that tells it; nil until it is exported.
    fileprivate private(set) var notice: String?
    /// What it is told through; nil while nothing is told.
    private weak var runtime: ModuleRuntime?
    /// The bytes of the longest value that the bus has kept on this connection; -1 for none.
    private var longestKept = -1

    /// Creates a value that isn't exported yet.
    public init(_ value: Value) { self.value = value }

    /// Changes the value, and tells its observers. An equal value changes nothing.
    ///
    /// Before `setUp` is done, and without a connection, the value is told later.
    /// - Throws: `overloaded` if too many bytes are unsent, `too-large` for a value that is longer than
    ///   a frame, `bad-params` for one that can't be written as JSON. The value is then as it was.
    public func set(_ value: Value) throws {
        guard value != self.value else { return }
        try tell(value)
        self.value = value
    }

    private func tell(_ value: Value) throws {
        let bytes: [UInt8]
        do { bytes = try Coding.encode(value) } catch {
            throw BusError(.badParams, "\(notice ?? "the property") can't be written as JSON: \(error)")
        }
        guard let notice, let runtime, let session = runtime.connection.session else { return }
        let outgoing = Outgoing(.broadcast, name: notice, retains: true)
        // The bus may refuse what it has kept nothing like, and says so only of a broadcast with a number.
        guard bytes.count > longestKept else { return try runtime.send(outgoing, .bytes(bytes)) }
        try Body.bytes(bytes).withUnsafeBytes { body throws(BusError) in
            _ = try session.request(
                outgoing, body, scope: CallScope.current, .callback { [weak self] in self?.told($0, bytes.count) })
        }
    }

    private func told(_ answer: Result<[UInt8], BusError>, _ bytes: Int) {
        switch answer {
        case .success: longestKept = max(longestKept, bytes)
        case .failure(let error) where error.code == .died: break
        case .failure(let error):
            ModuleLog.logger.error("nobody was told the value of \(notice ?? "a property"): \(error)")
        }
    }
}

/// The value of a property of any type.
@ModuleActor
protocol OwnedValue: AnyObject {
    /// Exports it under the name of its broadcast, once.
    func export(as notice: String)
    /// Tells its value, and from now on its changes.
    func open(_ runtime: ModuleRuntime)
    /// Tells nothing until it is opened again.
    func close()
}

extension PropertyValue: OwnedValue {
    func export(as notice: String) {
        precondition(self.notice == nil, "\(self.notice ?? "") and \(notice) have one value: give each its own")
        self.notice = notice
    }

    func open(_ runtime: ModuleRuntime) {
        self.runtime = runtime
        longestKept = -1
        do { try tell(value) } catch {
            ModuleLog.logger.error("nobody was told the value of \(notice ?? "a property"): \(error)")
        }
    }

    func close() { runtime = nil }
}

extension ModuleRuntime {
    /// Tells the values of all properties.
    func openProperties() {
        for property in offers.exports.properties { property.value.open(self) }
    }

    /// Tells no values until the next connection.
    func closeProperties() {
        for property in offers.exports.properties { property.value.close() }
    }
}
