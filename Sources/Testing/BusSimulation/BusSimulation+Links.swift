import StrataCore

/// What peers open of other apps, and how those apps greet the bus. They answer its requests as
/// modules do.
extension BusSimulation {
    /// Another app's answer to the bus's hello.
    enum Greeting { case welcome, refusal, nonsense }

    func answerHello(_ frame: SimulatedFrame, _ session: SimulatedSession) {
        switch session.number % 12 {
        case 0: greet(session, .refusal)
        case 1: greet(session, .nonsense)
        // Answered later, or never.
        case 2, 3: session.pending.append(.init(id: frame.id, request: -1, to: frame.to))
        case 4:
            greet(session, .refusal)
            greet(session, .welcome)
        default: greet(session, .welcome)
        }
    }

    func greet(_ session: SimulatedSession, _ greeting: Greeting) {
        let header = SimulatedLink.headers[session.number / 8 % SimulatedLink.headers.count]
        switch greeting {
        case .welcome:
            send(
                session, #"{"kind":"reply","id":1}"#, #"{"app":"far","limits":{"frame":65536,"header":\#(header)}}"#,
                .greeting(header: header))
        case .refusal:
            send(
                session, #"{"kind":"error","id":1,"code":"forbidden","message":"no","ran":"no"}"#, "",
                .greeting(header: nil))
        case .nonsense:
            let lies = ["{}", #"{"limits":{"frame":65536,"header":0}}"#, #"{"limits":{"frame":-1,"header":9}}"#]
            let more = session.number / 8 % 2 == 0 ? "" : #","more":true"#
            send(
                session, #"{"kind":"reply","id":1\#(more)}"#, lies[session.number / 8 % lies.count],
                .greeting(header: nil))
        }
    }

    /// Whether a step's request is about another app.
    func goesElsewhere(_ step: SimulationStep) -> Bool { !app.others.isEmpty && step.b >> 10 & 1 == 1 }

    func openElsewhere(_ step: SimulationStep, _ session: SimulatedSession) {
        let url = url(step, isAsked: false)
        request(
            session, "open", .elsewhere(url), #","url":"\#(url.text(referee.requests.count))""#, body: { _ in "" },
            step: step)
    }

    func askElsewhere(_ step: SimulationStep, _ session: SimulatedSession) {
        let url = url(step, isAsked: true)
        request(
            session, "call", .elsewhere(url), #","to":"bus/canOpen""#, body: { #"{"url":"\#(url.text($0))"}"# },
            step: step)
    }

    private func url(_ step: SimulationStep, isAsked: Bool) -> SimulatedLink.URL {
        .init(other: step.a % app.others.count, isLong: step.b & 7 == 0, isAsked: isAsked)
    }
}
