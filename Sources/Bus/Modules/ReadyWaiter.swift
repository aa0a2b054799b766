/// What the bus itself does for a request when a module is ready, or known not
/// to become so.
enum ReadyWaiter {
    /// `bus/create` of an interface of the module's.
    case creation(CallReference, InterfaceRecord)
    /// A call is kept until the authorizer, an interface of the module's, can be asked.
    case authorization(CallReference, InterfaceRecord)

    /// The request.
    var call: CallReference {
        switch self {
        case .creation(let call, _), .authorization(let call, _): call
        }
    }
}

extension BusCore {
    /// Goes on with what waited for a module; a request that has ended is passed over.
    func settle(_ module: ModuleRecord, isReady: Bool) {
        for waiter in module.takeReadyWaiters() where waiter.call.isOpen {
            switch waiter {
            case .creation(let asking, let interface): ownerSettled(isReady, asking.call, interface)
            case .authorization(let asking, let authorizer): authorizerSettled(isReady, asking.call, authorizer)
            }
        }
    }
}
