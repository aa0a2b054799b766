internal import StrataCore

extension Exports {
    /// The objects of one interface where nothing else is said.
    public static let mostInstances = 4_096

    /// Exports an interface of which each user creates instances of its own,
    /// each with an object that its calls go to.
    ///
    /// The bus doesn't say when an instance is created: its object is made by
    /// its first call. It is let go when its user releases the instance or is
    /// gone, and so are all when this module loses its connection; handlers that
    /// are still running keep theirs until they return.
    /// - Parameters:
    ///   - interface: its contract.
    ///   - most: so many objects at once, counting those in `released`; a call
    ///     that needs one more is `overloaded`. The bus bounds what one user
    ///     may have (`limits.instances`), and this what all of them have
    ///     together.
    ///   - make: makes an object; what it throws is the first call's error, and
    ///     the next call tries again.
    ///   - released: called once with each object that is let go, but for those
    ///     that are left when the process ends. It has the manifest's `startup`
    ///     for it, and what it throws is logged.
    ///   - actions: says what instances can do.
    public mutating func instances<I: Interface, Object: AnyObject>(
        of interface: I.Type, most: Int = Exports.mostInstances,
        make: @escaping @ModuleActor (NewInstance) throws -> Object,
        released: @escaping @ModuleActor (Object) async throws -> Void = { _ in },
        actions: @ModuleActor (inout InstanceActions<Object>) -> Void
    ) {
        instances(of: interface.name, most: most, make: make, released: released, actions: actions)
    }

    /// Exports such an interface without a contract.
    public mutating func instances<Object: AnyObject>(
        of interface: String, most: Int = Exports.mostInstances,
        make: @escaping @ModuleActor (NewInstance) throws -> Object,
        released: @escaping @ModuleActor (Object) async throws -> Void = { _ in },
        actions: @ModuleActor (inout InstanceActions<Object>) -> Void
    ) {
        let name = Name.withoutRouterSuffix(interface)
        let objects = InstanceObjects(name, most: most, make: make, released: released)
        var list = InstanceActions(name, objects)
        actions(&list)
        precondition(
            !list.actions.isEmpty, "\(name) is exported with instances and no action: list its actions")
        add(instances: name, objects, list.actions)
    }
}
