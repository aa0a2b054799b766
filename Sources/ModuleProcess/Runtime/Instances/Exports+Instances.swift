internal import StrataCore

extension Exports {
    /// The most objects of one interface, by default.
    public static let mostInstances = 4_096

    /// Exports an interface whose users each create instances of their own. Each instance has an
    /// object that handles its calls.
    ///
    /// The bus asks before each new instance, and `make` answers with its object. The object is
    /// released when its user releases the instance, or when its user's connection ends.
    /// All objects are released when this module loses its connection. Handlers that are still
    /// running keep their object until they return.
    /// - Parameters:
    ///   - interface: The interface's contract.
    ///   - most: The most objects at once, counting those whose `released` is still running. One more
    ///     is refused with `overloaded`. The bus limits the instances of one
    ///     user (`limits.instances`); this limits those of all users together.
    ///   - make: Makes an object. If it throws, the instance isn't created, and its user gets that
    ///     error.
    ///   - released: Called once with each released object, except for those that are left when the
    ///     process ends. It has the manifest's `startup` time, and an error that it throws is
    ///     logged.
    ///   - actions: Adds the actions of the instances.
    public mutating func instances<I: Interface, Object: AnyObject>(
        of interface: I.Type, most: Int = Exports.mostInstances,
        make: @escaping @ModuleActor (NewInstance) throws -> Object,
        released: @escaping @ModuleActor (Object) async throws -> Void = { _ in },
        actions: @ModuleActor (inout InstanceActions<Object>) -> Void
    ) {
        add(instances: interface.name, of: interface, most: most, make: make, released: released, actions: actions)
    }

    /// Exports an interface with instances by name, without a contract.
    public mutating func instances<Object: AnyObject>(
        of interface: String, most: Int = Exports.mostInstances,
        make: @escaping @ModuleActor (NewInstance) throws -> Object,
        released: @escaping @ModuleActor (Object) async throws -> Void = { _ in },
        actions: @ModuleActor (inout InstanceActions<Object>) -> Void
    ) {
        add(instances: interface, of: nil, most: most, make: make, released: released, actions: actions)
    }

    private mutating func add<Object: AnyObject>(
        instances interface: String, of type: (any Interface.Type)?, most: Int,
        make: @escaping @ModuleActor (NewInstance) throws -> Object,
        released: @escaping @ModuleActor (Object) async throws -> Void,
        actions: @ModuleActor (inout InstanceActions<Object>) -> Void
    ) {
        let name = Name.withoutRouterSuffix(interface)
        let objects = InstanceObjects(name, most: most, make: make, released: released)
        var list = InstanceActions(name, objects)
        actions(&list)
        precondition(
            !list.actions.isEmpty, "\(name) is exported with instances and no action: list its actions")
        add(instances: name, of: type, objects, list.actions)
    }
}
