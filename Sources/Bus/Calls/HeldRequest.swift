import StrataCore

/// A copy of what a request carries, while it waits inside the bus.
final class HeldRequest {
    let copy: Copy
    let interface: InterfaceRecord?

    init(_ copy: Copy, _ interface: InterfaceRecord?) {
        self.copy = copy
        self.interface = interface
    }

    /// Its bytes.
    struct Copy: StatePart {
        /// `Interface/action`, as the owner sees it.
        var to: [UInt8] = []
        var action: [UInt8] = []
        var url: [UInt8] = []
        /// A report's.
        var name: [UInt8] = []
        var object: [UInt8]?
        var trace: [UInt8] = []
        var meta: [UInt8] = []
        var body: [UInt8] = []
        var skipsAuthorization = false

        init() {}

        init(_ request: Request) {
            to = Array(request.to)
            action = Array(request.action)
            url = Array(request.url)
            name = Array(request.name)
            object = request.object.map { Array($0) }
            trace = Array(request.trace)
            meta = Array(request.meta)
            body = Array(request.body)
            skipsAuthorization = request.skipsAuthorization
        }

        mutating func fields(_ file: inout StateFile) throws(StateError) {
            try file(1, &to)
            try file(2, &action)
            try file(3, &url)
            try file(4, &name)
            try file(5, &object)
            try file(6, &trace)
            try file(7, &meta)
            var waiting = WaitingBytes.array(body)
            try file(8, &waiting)
            body = waiting.array
            try file(9, &skipsAuthorization)
        }
    }

    /// What is counted to the sender, in bytes.
    var cost: Int {
        let texts = copy.trace.count + copy.meta.count + copy.url.count + copy.name.count + (copy.object?.count ?? 0)
        return copy.body.count + texts + 128
    }

    /// The request as it was.
    func withRequest<Result>(_ use: (Request) -> Result) -> Result {
        copy.to.withUnsafeBytes { to in
            copy.action.withUnsafeBytes { action in
                copy.url.withUnsafeBytes { url in
                    copy.name.withUnsafeBytes { name in
                        (copy.object ?? []).withUnsafeBytes { object in
                            copy.trace.withUnsafeBytes { trace in
                                copy.meta.withUnsafeBytes { meta in
                                    copy.body.withUnsafeBytes { body in
                                        use(
                                            Request(
                                                to: to, interface: interface, action: action, url: url,
                                                name: name, object: copy.object == nil ? nil : object,
                                                trace: trace, meta: meta, body: body,
                                                skipsAuthorization: copy.skipsAuthorization))
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
