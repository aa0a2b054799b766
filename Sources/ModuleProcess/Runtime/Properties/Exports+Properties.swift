internal import StrataCore
internal import StrataDeriving

extension Exports {
    /// A property that the module has.
    struct PropertyExport {
        let name: PropertyNames
        let outline: ModuleOutline.Property
        let value: any OwnedValue

        /// The names of its actions.
        var actions: [String] { outline.isSettable ? [name.property, name.setter] : [name.property] }
    }

    /// Exports a property: the action that reads it, the broadcast that tells it, and for a
    /// `SettableProperty` the action that sets it to any value of its type.
    /// - Parameters:
    ///   - type: The property's contract.
    ///   - value: The value, which the module keeps and changes.
    public mutating func property<P: Property>(_ type: P.Type, from value: PropertyValue<P.Value>)
    where P.Value: Equatable {
        add(P.name, of: P.self, value, Self.setter(of: P.self, auth: false) { _ in })
    }

    /// Exports a property that callers set, if a check allows it.
    /// - Parameters:
    ///   - type: The property's contract.
    ///   - value: The value, which the module keeps and changes.
    ///   - auth: Whether the app's authorizer is asked before each set.
    ///   - check: Gets the value that a caller wants. An error that it throws is sent to the caller, and
    ///     the value stays as it is.
    public mutating func property<P: SettableProperty>(
        _ type: P.Type, from value: PropertyValue<P.Value>, auth: Bool = false,
        check: @escaping @ModuleActor (P.Value) async throws -> Void
    ) where P.Value: Equatable {
        add(P.name, of: P.self, value, Self.setter(of: P.self, auth: auth, check))
    }

    /// Exports a property by name, which callers read and don't set. Its type is the value's.
    /// - Parameters:
    ///   - destination: `Interface/property`.
    ///   - value: The value, which the module keeps and changes.
    public mutating func property<Value>(_ destination: String, from value: PropertyValue<Value>) {
        add(PropertyName(splitting: destination), of: nil, value, nil)
    }

    /// Exports a property by name, which callers set, if a check allows it. Its type is the value's.
    /// - Parameters:
    ///   - destination: `Interface/property`.
    ///   - value: The value, which the module keeps and changes.
    ///   - auth: Whether the app's authorizer is asked before each set.
    ///   - check: As for a property with a contract.
    public mutating func property<Value>(
        _ destination: String, from value: PropertyValue<Value>, auth: Bool = false,
        check: @escaping @ModuleActor (Value) async throws -> Void
    ) {
        add(PropertyName(splitting: destination), of: nil, value, Setter(auth: auth, errors: [], check: check))
    }

    /// How callers set a property.
    private struct Setter<Value> {
        let auth: Bool
        let errors: [(code: String, doc: String)]
        let check: @ModuleActor (Value) async throws -> Void
    }

    /// Nil for a property that callers don't set.
    private static func setter<P: Property>(
        of type: P.Type, auth: Bool, _ check: @escaping @ModuleActor (P.Value) async throws -> Void
    ) -> Setter<P.Value>? {
        guard let settable = type as? any SettableProperty.Type else { return nil }
        return Setter(auth: auth, errors: settable.errors.map { ($0.key, $0.value) }, check: check)
    }

    private mutating func add<Value>(
        _ name: PropertyName, of type: (any Property.Type)?, _ value: PropertyValue<Value>, _ setter: Setter<Value>?
    ) {
        let names = name.onBus
        precondition(
            Name.isProperty(names.property),
            "\(names.get) is not a property's name: write Interface/property, with an action's name of at most 60 bytes "
                + "that doesn't end with \(PropertyNames.suffix)")
        value.export(as: names.notice)
        add(ActionName(interface: names.interface, action: names.property, of: name.owner), auth: false) { call, _, _ in
            call.run((), atOnce: { _ in value.value }) { try $0.reply(encoding: $1) }
        }
        var outline = ModuleOutline.Property(names.property, Value.self, type: type)
        if let setter {
            outline.isSettable = true
            outline.needsAuthorization = setter.auth
            outline.errors = setter.errors
            let set = ActionName(interface: names.interface, action: names.setter, of: name.owner)
            add(set, auth: setter.auth) { call, header, body in
                let wanted: PropertySetting<Value>
                do { wanted = try call.params(PropertySetting<Value>.self, header, body) } catch {
                    call.fail(error)
                    return
                }
                call.run { call in
                    try await setter.check(wanted.value)
                    try value.set(wanted.value)
                    try call.reply(encoding: Nothing())
                }
            }
        }
        add(PropertyExport(name: names, outline: outline, value: value), of: type)
    }

    // MARK: Observers

    /// Observes a property: the handler gets its present value as soon as the observation begins, if its
    /// owner has told it, then each change. No value falls between.
    /// - Parameters:
    ///   - property: The property's contract.
    ///   - keep: Whether all changes are kept for a slow observer, or only the latest, which the default is.
    ///   - perform: Handles a value, in the order in which they were told.
    public mutating func observe<P: Property>(
        _ property: P.Type, keep: Keep = .latest, perform: @escaping @ModuleActor (P.Value) async throws -> Void
    ) {
        add(Observing(property, keep, perform))
    }
}

extension Observing {
    convenience init<P: Property>(
        _ property: P.Type, _ keep: Keep, _ perform: @escaping @ModuleActor (P.Value) async throws -> Void
    ) {
        self.init(P.name.notice, of: P.Value.self, object: nil, keep: keep) { delivery in
            try await perform(Coding.value(P.Value.self, delivery.body))
        }
    }
}
