import StrataCore

/// What a recording says of one module: its lives, each the time of one process.
public struct ModuleRecording {
    /// The module's name.
    public let module: String
    /// How many frames of it the recording has.
    public private(set) var frames = 0
    /// How many frames the recording misses, of whatever module.
    public private(set) var missed: Int64 = 0
    /// The app's name, from the last heading; nil without one.
    public private(set) var app: String?
    /// The names of all modules that frames came from or went to, sorted.
    public var modules: [String] { seen.sorted() }

    private(set) var lives = [RecordedLife()]
    private var seen: Set<String> = []
    private var hasBodies = true
    /// Whether the last life begins with hello, and nothing has shown yet whether a start follows.
    private var hasSaidHello = false
    /// By the broker's number: where a call is in the current life.
    private var asks: [Int64: Int] = [:]
    private var own: [Int64: Int] = [:]
    /// The module's requests whose answers have no number, by what they are, oldest first.
    private var waiting: [Unnumbered: [Int]] = [:]
    /// Who asked last for an instance of an interface.
    private var creators: [String: String] = [:]

    /// What answers without a number are told apart by.
    private enum Unnumbered { case call, broadcast, report }

    /// Makes an empty recording.
    public init(of module: String) { self.module = module }

    /// Adds the next packet.
    /// - Returns: whether it is one of a bus.
    public mutating func add(_ packet: some Collection<UInt8>) -> Bool {
        guard let json = try? JSON(parsing: Array(packet), maximumDepth: 128), json.object != nil else { return false }
        let frame = RecordedFrame(json: json)
        missed = min(missed + frame.missed, 1 << 50)
        if frame.kind == RecordedFrame.heading {
            begin(frame)
        } else if !frame.kind.isEmpty {
            add(frame)
        }
        return true
    }

    /// Why the recording can't be replayed; nil if it can.
    public var obstacle: String? {
        if !hasBodies { return "it was recorded with --no-bodies: what the module got isn't in it" }
        guard frames == 0 else { return nil }
        let near = nearestNames(to: module, in: modules).map { ": did you mean \(Printable.line($0))?" }.first ?? ""
        return "no frame went to or came from \(Printable.line(module))\(near)"
    }

    /// Another broker numbers its calls from the start.
    private mutating func begin(_ heading: RecordedFrame) {
        app = heading.json["app"]?.string
        hasBodies = hasBodies && heading.json["bodies"]?.bool != false
        (asks, own, waiting) = ([:], [:], [:])
    }

    private var life: RecordedLife {
        get { lives[lives.count - 1] }
        _modify { yield &lives[lives.count - 1] }
    }

    private mutating func step(_ step: RecordedLife.Step, _ frame: RecordedFrame) {
        frames += 1
        life.steps.append((step, frame.at))
    }

    private mutating func add(_ frame: RecordedFrame) {
        for name in [frame.from, frame.callee] where !name.isEmpty && !Self.others.contains(name) { seen.insert(name) }
        switch frame.kind {
        case "call", "open", "broadcast", "report":
            if frame.kind == "call", frame.callee == "bus" { noteServed(frame) }
            if frame.from == module { addOwn(frame) }
            if frame.callee == module, frame.kind == "call", frame.code.isEmpty { addAsk(frame) }
        case "notice": if frame.to == module { step(.notice(frame), frame) }
        case "reply", "error": addAnswer(frame)
        default: break
        }
    }

    private static let others: Set = ["operator", "launcher", "bus"]

    /// Notes what calls to the bus say of the module.
    private mutating func noteServed(_ frame: RecordedFrame) {
        switch frame.to {
        case "bus/create":
            if let interface = frame.body?["interface"]?.string { creators[interface] = frame.from }
        case "bus/moduleState":
            let (state, body) = (frame.body?["state"]?.string ?? "", frame.body)
            guard frame.from == "launcher", body?["module"]?.string == module, body?["asked"]?.bool != true,
                state == "restarting" || state == "failed"
            else { return }
            end(body?["reason"]?.string ?? state, frame)
        default: break
        }
    }

    private mutating func end(_ reason: String, _ frame: RecordedFrame) {
        guard life.end == nil else { return }
        life.end = reason
        step(.end(reason), frame)
    }

    private mutating func addAsk(_ frame: RecordedFrame) {
        guard let id = frame.id else { return }
        if frame.to == RecordedLife.firstStep {
            if !hasSaidHello, frames > 0 { beginLife() }
            life.hasStart = true
        } else if hasSaidHello {
            resumeLife()
        }
        hasSaidHello = false
        asks[id] = life.asks.count
        var ask = RecordedLife.Ask(frame: frame)
        if let instance = frame.body?["instance"]?.string, frame.to == "module/create" {
            ask.creator = creators[String(instance.prefix { $0 != "#" })]
        }
        step(.ask(life.asks.count), frame)
        life.asks.append(ask)
    }

    private mutating func beginLife() {
        lives.append(RecordedLife())
        (asks, own, waiting) = ([:], [:], [:])
    }

    /// It was no new process, but one that connected again: its last life goes on.
    private mutating func resumeLife() {
        guard lives.count > 1 else { return }
        let later = lives.removeLast()
        let (firstAsk, firstOwn) = (life.asks.count, life.own.count)
        life.append(later)
        asks = asks.mapValues { $0 + firstAsk }
        own = own.mapValues { $0 + firstOwn }
        waiting = waiting.mapValues { $0.map { $0 + firstOwn } }
    }

    private mutating func addOwn(_ frame: RecordedFrame) {
        let index = life.own.count
        life.own.append(RecordedLife.Own(frame: frame))
        step(.own(index), frame)
        guard frame.code.isEmpty else {
            // The error of a refused request isn't shown separately.
            return answer(index, RecordedLife.Answer(code: frame.code, body: .null), frame)
        }
        if let id = frame.id {
            own[id] = index
        } else {
            let kind: Unnumbered = frame.kind == "broadcast" ? .broadcast : frame.kind == "report" ? .report : .call
            waiting[kind, default: []].append(index)
        }
    }

    private mutating func answer(_ index: Int, _ answer: RecordedLife.Answer, _ frame: RecordedFrame) {
        life.own[index].hasFailed = !answer.code.isEmpty
        step(.answer(index, answer), frame)
    }

    private mutating func addAnswer(_ frame: RecordedFrame) {
        let answer = RecordedLife.Answer(frame)
        guard let id = frame.id else {
            if frame.from == module {
                step(.noticeAnswered(answer), frame)
            } else if frame.to == module, frame.from == "bus", let index = unnumbered(frame) {
                self.answer(index, answer, frame)
            }
            return
        }
        if let index = asks[id] {
            if frame.from == module {
                life.asks[index].answers.append(answer)
                step(.answered(index), frame)
            } else if frame.from == "bus", frame.kind == "error" {
                withdraw(index, frame)
            }
            if !frame.isPartial { asks[id] = nil }
        }
        if let index = own[id], frame.to == module {
            self.answer(index, answer, frame)
            if !frame.isPartial { own[id] = nil }
        }
    }

    /// The broker ended a call to the module: its caller took it back, its time was over, or the module died.
    private mutating func withdraw(_ index: Int, _ frame: RecordedFrame) {
        if frame.code == "died" {
            end("it died", frame)
        } else {
            step(.withdraw(index), frame)
        }
    }

    /// Returns the request that an answer without a number belongs to. The answer's members say what kind of request
    /// that is. Of several open calls or reports it is the oldest one, of broadcasts the newest.
    private mutating func unnumbered(_ frame: RecordedFrame) -> Int? {
        if frame.body?["features"] != nil, frame.body?["subscriptions"] != nil {
            // The answer to hello. A life with other frames is over, unless no start follows.
            if frames > 0 { beginLife() }
            hasSaidHello = true
            return nil
        }
        let isReport =
            frame.body?["observers"] != nil || frame.kind == "error" && waiting[.call, default: []].isEmpty
        let kind: Unnumbered = frame.body?["recipients"] != nil ? .broadcast : isReport ? .report : .call
        guard waiting[kind]?.isEmpty == false else { return nil }
        guard kind == .broadcast else { return waiting[kind]?.removeFirst() }
        // A broadcast is answered at once, and those before it asked for no answer.
        defer { waiting[kind] = nil }
        return waiting[kind]?.last
    }
}
