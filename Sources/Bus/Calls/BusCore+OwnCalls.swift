import StrataCore

/// The bus's own calls: to modules, to the launcher, to the authorizer.
extension BusCore {
    /// Calls a module at `module/…`, or calls the launcher or the authorizer.
    /// - Parameters:
    ///   - shown: the body as monitors see it; nil for the body itself.
    ///   - trace: the trace of the request that the call is made for, with its quotation marks.
    ///   - meta: a JSON object's bytes.
    ///   - request: the request that the call is made for, whose end cancels it.
    ///   - depth: the depth of the request that led to the call, if that isn't open.
    ///   - mustFit: whether a full queue refuses it, as it does any other call.
    ///   - file: holds the body, in place of `body`.
    func callOwn(
        _ peer: Peer, to: String, name: String? = nil, body: [UInt8] = [], shown: [UInt8]? = nil, trace: [UInt8] = [],
        meta: [UInt8] = [], for request: CallPointer? = nil, depth: UInt32 = 1, deadline: UInt64,
        mustFit: Bool = false, in file: FrameDescriptors? = nil, _ purpose: OwnPurpose
    ) {
        let frame = file.map { DescribedFrame($0, .none, to: peer) }
        if let refusal = frame.flatMap({ refusal(of: $0, room: trace.count + meta.count, to: peer, to) }) {
            return own(purpose, peer, .failure(refusal))
        }
        let length = frame?.body.count ?? body.count
        let count = length + trace.count + meta.count + HeaderWriter.overhead / 2
        // A request that waits for the answer already counts its own body, unless that is in a file.
        let new = request?.pointee.held == nil || file != nil ? count : count - length
        let line = peer.line
        if mustFit, peer.isOpen, !fits(count, line, new: new) {
            let full = BusError(
                .overloaded, "the queue to \(peer.displayName) is full: \(whatIsFull(count, line))")
            return own(purpose, peer, .failure(full))
        }
        guard peer.isOpen, let call = calls.open(.own) else {
            return own(purpose, peer, .failure(BusError(.died, "\(peer.displayName) is no longer connected")))
        }
        call.pointee.isLifecycle = to.hasPrefix("module/")
        call.pointee.action = routes.actionNames.number(of: to)
        call.pointee.depth = depth
        call.pointee.startedAt = time
        call.pointee.wasSent(to: peer)
        call.pointee.deadline.budget = deadline
        call.pointee.deadline.expiry = deadline == 0 ? Call.Deadline.never : now + deadline
        peer.addServed(call)
        arm(call)
        request?.adopt(call, further: 0)
        calls.set(purpose, of: call)
        var to = to
        let room = to.utf8.count * 6 + (name?.utf8.count ?? 0) * 6 + trace.count + meta.count
        let write = { (writer: inout HeaderWriter) in
            writer.integer("id", call.pointee.id)
            to.withUTF8 { writer.string("to", UnsafeRawBufferPointer($0)) }
            self.nameCaller(of: call, to: &writer)
            if peer.isRemote { writer.integer("depth", UInt64(depth)) }
            if let name { writer.string("name", name) }
            writer.integer("deadline", deadline)
            writer.integer("credit", 0)
            if !trace.isEmpty { trace.withUnsafeBytes { writer.raw("trace", $0) } }
            if !meta.isEmpty { meta.withUnsafeBytes { writer.raw("meta", $0) } }
        }
        call.pointee.end =
            if let frame {
                queue(.call, to: line, room: room, frame, isAnswer: false, write)
            } else {
                body.withUnsafeBytes { queue(.call, to: line, room: room, body: $0, isAnswer: false, write) }
            }
        guard monitors.isOn else { return }
        if let file = try? file?.mappedBody() { return monitorOwnCall(call, to, name, file.bytes, to: peer) }
        (shown ?? body).withUnsafeBytes { monitorOwnCall(call, to, name, $0, to: peer) }
    }

    func finishOwn(_ call: CallPointer, _ answer: OwnAnswer) {
        let purpose = calls.takePurpose(of: call)
        let callee = call.pointee.callee?.takeUnretainedValue()
        if monitors.isOn {
            if case .failure = answer { countEnd(call, isError: true) } else { countEnd(call, isError: false) }
        }
        // The call is closed first, because its answer may begin the next one.
        release(call, "the broker's call has ended")
        if let callee, let purpose {
            own(purpose, callee, answer)
        } else if case .event(let emission, let index)? = purpose {
            // Its module never became ready.
            eventAnswered(emission, index, answer)
        }
    }
}

/// The purpose of one of the bus's own calls, which decides what is done with its answer.
///
/// The cases are values, not closures: a broker that is replaced writes them down, and the next
/// program continues with them.
enum OwnPurpose {
    /// A step of a module's start, and the state that its answer leads to.
    case start(ModuleRecord, reaches: ModuleLife.Step)
    /// The tearDown of a module that is retired.
    case retirement(ModuleRecord, Retirement)
    /// `module/retiring` of a session that another one has replaced.
    case retiring
    /// `module/settings`.
    case settings
    /// The tearDown of such a session.
    case dismissal(ModuleRecord)
    /// The tearDown at the app's end.
    case ending
    /// An event, for the listener at that index.
    case event(Emission, Int)
    /// `launcher/reload`.
    case table
    /// `launcher/start`, for requests that wait for the module.
    case wanted(ModuleRecord)
    /// The watchdog's ping, sent every `interval` milliseconds.
    case ping(ModuleRecord, interval: UInt64)
    /// `launcher/stop` of the idle session with that number. After a refusal it is sent again in
    /// `pause` milliseconds.
    case stop(peer: UInt64, pause: UInt64)
    /// `launcher/restart` of a session that didn't answer its ping.
    case restart(peer: UInt64, pause: UInt64)
    /// `launcher/hung` about a session that isn't restarted. The next ping follows its answer,
    /// which changes nothing, in `pause` milliseconds.
    case hang(peer: UInt64, pause: UInt64)
    /// `module/released` or `module/instanceEnded`.
    case release
    /// `module/create` for a request, and the instance that it is about.
    case creation(CallReference, instance: UInt64)
    /// The authorizer's answer about a call that is kept.
    case authorization(CallReference)
    /// `module/metrics` or `module/contracts`, for an operator's request.
    case question(CallReference)

    /// Why a module is retired, which decides what follows.
    enum Retirement {
        /// The launcher asked for it, and this call of the launcher's waits.
        case asked(CallReference)
        /// No peer has sent the module a request for this many milliseconds.
        case idle(UInt64)
        /// Its row was removed.
        case removed
    }
}

extension BusCore {
    /// Handles the answer to one of the bus's own calls, or its failure.
    /// - Parameter callee: the peer that was called; its session may have ended.
    func own(_ purpose: OwnPurpose, _ callee: Peer, _ answer: OwnAnswer) {
        switch purpose {
        case .start(let module, let step): startAnswered(module, callee, step, answer)
        case .retirement(let module, let retirement): retired(module, callee, retirement)
        case .retiring: break  // while it is open the session is not torn down
        case .settings: settingsAnswered(callee, answer)
        case .dismissal(let module): dismiss(callee, module)
        case .ending: tornDown()
        case .event(let emission, let index): eventAnswered(emission, index, answer)
        case .table: tableAnswered(answer)
        case .wanted(let module): startWasAsked(module, answer)
        case .ping(let module, let interval): pingAnswered(module, callee, interval, answer)
        case .stop(let number, let pause):
            if case .failure = answer, let peer = connections[number] { setAlarm(.idle, of: peer, after: pause) }
        case .restart(let number, let pause):
            // If the module still hangs, the next ping shows it.
            if case .failure = answer, let peer = connections[number] { setAlarm(.ping, of: peer, after: pause) }
        case .hang(let number, let pause):
            if let peer = connections[number] { setAlarm(.ping, of: peer, after: pause) }
        case .release: releaseAnswered(callee, answer)
        case .creation(let asking, let number): creationAnswered(asking, number, callee, answer)
        case .authorization(let call): authorizerAnswered(call, answer)
        case .question(let asking): moduleAnswered(asking, callee, answer)
        }
    }
}
