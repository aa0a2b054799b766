internal import StrataContracts
internal import StrataCore
internal import StrataDeriving

/// The settings that a module declares, and the values that it has. It reads what the bus sends, adds
/// defaults, and takes all values or none.
@ModuleActor
final class HeldSettings {
    /// The values that the module has; nil before hello's answer.
    private(set) var value: (any ModuleSettings)?
    private var values: [JSON?] = []
    /// Counts changes: a handler that a newer change has overtaken no longer counts.
    private var change = 0

    private let export: Exports.SettingsExport
    private let module: String
    private let keys: [CheckedSetting]

    /// - Throws: `ContractFailure` if the type doesn't declare settings.
    init(_ export: Exports.SettingsExport, of module: String, _ type: any Module.Type) throws {
        self.export = export
        self.module = module
        var outline = ModuleOutline(module, type)
        outline.settings = export.outline
        let contract = try ContractBuilder(outline).contracts.module
        keys = (contract.settings?.properties ?? []).map { CheckedSetting($0, contract) }
    }

    /// The keys as hello declares them.
    var declared: [JSON] { keys.map { $0.isSecret ? ["name": .string($0.name), "secret": true] : .string($0.name) } }

    /// Takes the values of hello's answer, for notices and events that come before `setUp`. Wrong ones
    /// fail `setUp`.
    func take(welcome given: JSON) {
        if value == nil, let taken = try? read(given) { (values, value) = taken }
    }

    /// Takes the values of the start.
    /// - Returns: The context with them, and without secrets.
    func setUp(_ context: Context) throws(ModuleError) -> Context {
        (values, value) = try read(context.settings)
        var context = context
        context.declaredSettings = value
        let secrets = Set(keys.filter(\.isSecret).map(\.name))
        context.settings = .object((context.settings.object ?? []).filter { !secrets.contains($0.name) })
        return context
    }

    /// Takes changed values if the module's handler does.
    func take(_ given: JSON) async throws(ModuleError) {
        let (values, value) = try read(given)
        guard values != self.values else { return }
        guard let changed = export.changed else {
            throw ModuleError(
                .unknownAction, "\(module) takes changed settings at its next start: it has no settingsChanged")
        }
        change += 1
        let own = change
        do { try await changed(value) } catch { throw refusal(error, values) }
        guard own == change else { throw ModuleError(.failed, "newer settings came while \(module) took these") }
        (self.values, self.value) = (values, value)
    }

    // MARK: Reading

    private func read(_ given: JSON) throws(ModuleError) -> ([JSON?], any ModuleSettings) {
        let values = keys.map { given[$0.name] ?? $0.defaultValue }
        let problems = zip(keys, values).compactMap { key, value in key.problem(with: value) }
        guard problems.isEmpty else { throw .badParams(problems.joined(separator: "; ")) }
        let members = zip(keys, values).compactMap { key, value in value.map { JSON.Member(key.name, $0) } }
        do { return (values, try Coding.decode(export.type, JSON.object(members).encoded())) } catch {
            throw .badParams(unread(error, values))
        }
    }

    /// Returns what to say of values that have the declared types, and that a type's own `init(from:)`
    /// doesn't take.
    private func unread(_ error: any Error, _ values: [JSON?]) -> String {
        guard let error = error as? DecodingError else { return hidingSecrets("the settings: \(error)", values) }
        guard let key = error.path.first.flatMap({ first in keys.first { $0.name == first.stringValue } }) else {
            return hidingSecrets("the settings: \(error.sentence())", values)
        }
        return hidingSecrets(key.problem(saying: error.sentence()), values)
    }

    private func refusal(_ error: any Error, _ values: [JSON?]) -> ModuleError {
        let changed = zip(keys, zip(self.values, values)).filter { $1.0 != $1.1 }.map(\.0.name)
        let most = 8
        let names = changed.prefix(most).joined(separator: ", ") + (changed.count > most ? ", …" : "")
        let answer = BusError(answering: error, of: "")
        let reason = hidingSecrets(hidingSecrets(answer.message, self.values), values)
        return ModuleError(answer.code, "settingsChanged refuses \(names): \(reason)", ran: answer.ran)
    }

    private func hidingSecrets(_ text: String, _ values: [JSON?]) -> String {
        let secrets = zip(keys, values).compactMap { key, value in
            key.isSecret ? value?.string.map { AppTable.Secret(key.name, $0) } : nil
        }
        return SecretMask(secrets).masked(text)
    }
}

extension DecodingError {
    fileprivate var path: [any CodingKey] {
        switch self {
        case .keyNotFound(let key, let context): context.codingPath + [key]
        case .valueNotFound(_, let context), .typeMismatch(_, let context), .dataCorrupted(let context):
            context.codingPath
        @unknown default: []
        }
    }
}
