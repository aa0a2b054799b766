internal import StrataContracts
internal import StrataCore

/// The settings that a module declares, as the members of one object.
extension Deriver {
    /// The most settings of a module, and the most bytes of a key: as the bus takes them in hello.
    private static let (mostSettings, longestKey) = (1_024, 256)
    /// The most bytes of all keys: they are in hello's first part, which has 64 KiB.
    private static let mostKeyBytes = 32 << 10

    /// - Throws: `DerivingError` if the type isn't an object of settings, or if a default isn't what
    ///   its setting takes.
    func settings(_ outline: ModuleOutline.Settings) throws -> Schema.Members {
        let place = ValuePath.root.member("settings")
        guard case .object(var members) = try contents(of: outline.type, at: place).form else {
            throw DerivingError(
                outline.type, at: place, "settings are an object with a member for each setting",
                advice: "make it a struct whose coding keys are the keys of the settings")
        }
        let names = members.properties.map(\.name)
        guard names.count <= Self.mostSettings, names.allSatisfy({ 1...Self.longestKey ~= $0.utf8.count }),
            names.reduce(0, { $0 + $1.utf8.count }) <= Self.mostKeyBytes
        else {
            throw DerivingError(
                outline.type, at: place,
                "a module has at most \(Self.mostSettings) settings, with keys of 1 to \(Self.longestKey) bytes and "
                    + "\(Self.mostKeyBytes) bytes in all", advice: "declare fewer, or with shorter keys")
        }
        let defaults = try defaults(outline, names, at: place)
        for index in members.properties.indices {
            try complete(&members.properties[index], defaults, outline, at: place)
        }
        return members
    }

    private func defaults(
        _ outline: ModuleOutline.Settings, _ names: [String], at place: ValuePath
    ) throws -> [JSON.Member] {
        guard let defaults = outline.defaults.object else {
            throw DerivingError(
                outline.type, at: place, "its defaults aren't an object", advice: #"write ["KEY": VALUE]"#)
        }
        if let unknown = defaults.first(where: { !names.contains($0.name) }) {
            throw DerivingError(
                outline.type, at: place.member(unknown.name),
                "its defaults have a value for a key that it doesn't have",
                advice: "give the setting that coding key, or remove the default")
        }
        return defaults
    }

    private func complete(
        _ setting: inout Schema.Property, _ defaults: [JSON.Member], _ outline: ModuleOutline.Settings,
        at place: ValuePath
    ) throws {
        let place = place.member(setting.name)
        setting.schema = setting.schema.withSecretOutside
        try checkSecrets(setting.schema, outline, at: place)
        guard let value = defaults.first(where: { $0.name == setting.name })?.value else { return }
        guard !setting.schema.isSecret else {
            throw DerivingError(
                outline.type, at: place, "a secret has a default, which its contract would show",
                advice: "make the setting required, or optional")
        }
        let checker = SchemaChecker(setting.schema, definitions: schemas)
        switch checker.check(value) {
        case .allowed: break
        case .refused(let mismatch):
            throw DerivingError(
                outline.type, at: place, "its default isn't what the setting takes (\(mismatch))",
                advice: "write a default of the setting's type")
        case .undecided(let reason):
            throw DerivingError(outline.type, at: place, "its default can't be checked (\(reason))")
        }
        setting.schema.defaultValue = value
        setting.isRequired = false
    }

    /// Checks that a secret is a setting of its own, of a type that is written as a string: the bus
    /// hands out secrets as strings, and hello declares whole settings.
    private func checkSecrets(_ schema: Schema, _ outline: ModuleOutline.Settings, at place: ValuePath) throws {
        let inner = Self.reachable(from: [schema], schemas).compactMap { schemas[$0] }
        guard !schema.hasSecretPart, !inner.contains(where: { $0.isSecret || $0.hasSecretPart }) else {
            throw DerivingError(
                outline.type, at: place, "a secret is in the value of a setting",
                advice: "make it a setting of its own")
        }
        guard !schema.isSecret || takesText(schema) else {
            throw DerivingError(
                outline.type, at: place, "a secret is a string, and this one is of another type",
                advice: "use Secret<String>, and read the string")
        }
    }

    private func takesText(_ schema: Schema) -> Bool {
        switch resolved(schema).form {
        case .any, .string: true
        case .enumeration(let values): values.contains { $0.string != nil }
        case .union(let parts): parts.contains(where: takesText)
        case .null, .boolean, .integer, .number, .array, .tuple, .object, .map, .reference: false
        }
    }

    /// The definitions by the names that schemas have until `complete`.
    private var schemas: [String: Schema] {
        Dictionary(uniqueKeysWithValues: completed.map { ($0.name, $0.schema) })
    }
}

extension Schema {
    /// The schema of an optional secret: the setting is the secret, not one of its alternatives.
    fileprivate var withSecretOutside: Schema {
        guard case .union(var parts) = form, parts.contains(where: \.isSecret) else { return self }
        for index in parts.indices { parts[index].isSecret = false }
        var schema = self
        schema.form = .union(parts)
        schema.isSecret = true
        return schema
    }

    fileprivate var hasSecretPart: Bool { parts.contains { $0.isSecret || $0.hasSecretPart } }
}
