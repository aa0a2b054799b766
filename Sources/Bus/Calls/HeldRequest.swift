import StrataCore

/// A copy of what a request carries, while it waits inside the bus.
final class HeldRequest {
    /// `Interface/action`, as the owner sees it.
    let to: [UInt8]
    let interface: InterfaceRecord?
    let action: [UInt8]
    let url: [UInt8]
    /// A report's.
    let name: [UInt8]
    let object: [UInt8]?
    let trace: [UInt8]
    let meta: [UInt8]
    let body: [UInt8]
    let skipsAuthorization: Bool

    init(_ request: Request) {
        to = Array(request.to)
        interface = request.interface
        action = Array(request.action)
        url = Array(request.url)
        name = Array(request.name)
        object = request.object.map { Array($0) }
        trace = Array(request.trace)
        meta = Array(request.meta)
        body = Array(request.body)
        skipsAuthorization = request.skipsAuthorization
    }

    /// One that another program kept.
    init(_ state: HeldState, interface: InterfaceRecord?) {
        to = state.to
        self.interface = interface
        action = state.action
        url = state.url
        name = state.name
        object = state.object
        trace = state.trace
        meta = state.meta
        body = state.body.array
        skipsAuthorization = state.skipsAuthorization
    }

    /// What is counted to the sender, in bytes.
    var cost: Int { body.count + trace.count + meta.count + url.count + name.count + (object?.count ?? 0) + 128 }

    /// The request as it was.
    func withRequest<Result>(_ use: (Request) -> Result) -> Result {
        to.withUnsafeBytes { to in
            action.withUnsafeBytes { action in
                url.withUnsafeBytes { url in
                    name.withUnsafeBytes { name in
                        (object ?? []).withUnsafeBytes { object in
                            trace.withUnsafeBytes { trace in
                                meta.withUnsafeBytes { meta in
                                    body.withUnsafeBytes { body in
                                        use(
                                            Request(
                                                to: to, interface: interface, action: action, url: url,
                                                name: name, object: self.object == nil ? nil : object,
                                                trace: trace, meta: meta, body: body,
                                                skipsAuthorization: skipsAuthorization))
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What a request carries to its callee; bytes of somebody else's.
struct Request {
    typealias Bytes = UnsafeRawBufferPointer

    var to = Bytes.none
    /// Unretained: what was found in a round of the loop lives until its end.
    unowned(unsafe) var interface: InterfaceRecord?
    var action = Bytes.none
    var url = Bytes.none
    var name = Bytes.none
    var object: Bytes?
    var trace = Bytes.none
    var meta = Bytes.none
    var body = Bytes.none
    /// A trusted module said `auth: skip`.
    var skipsAuthorization = false

    var kind: MessageKind { interface == nil ? .report : url.isEmpty ? .call : .open }
}
