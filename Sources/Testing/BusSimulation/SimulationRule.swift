/// A rule that must always hold, named after the section of docs/protocol.md that states it.
package enum SimulationRule: String, Sendable, CaseIterable {
    case onceAnswered = "4 Kinds: an answer is for a request that is open"
    case joined = "5 Session: hello is answered before anything else is sent"
    case contracts = "5 Contract versions: the versions of live modules fit, and nothing that fits is refused"
    case known = "6 Calls: what is delivered was sent by the peer that it names"
    case policy = "6 Checks: a call is delivered only to a module that its sender may call"
    case refusedRightly = "6 Checks: a rule's error code is sent only if the rule is broken"
    case instances = "6 Instances: an instance belongs to its creator alone"
    case deadline = "6 Deadline: a request ends when its deadline passes, not before"
    case parent = "6 Parent: requests that are made for a call end with it"
    case cancelled = "6 Deadline: the callee of a request that has ended gets a cancel"
    case ended = "6 Ends: every request ends in exactly one final answer"
    case ran = "6 Ends: ran says what happened to the callee"
    case answered = "6 Ends: an answer is the callee's answer"
    case order = "6 Ends: frames of one sender arrive at one receiver in their order"
    case depth = "6 Depth: a chain of requests is as long as its limit allows, and not shorter"
    case root = "6 Root: an error has the root of a failure behind it, and no other"
    case credit = "6 Streams: partial replies keep to the credit and to their order"
    case direction = "7 Notifications: broadcasts go to later levels, reports to earlier ones"
    case observed = "7 Notifications: a notice is for an existing observation"
    case sameOrder = "7 Notifications: all observers see all broadcasts in one order"
    case complete = "7 Notifications: each observer gets each broadcast, or learns how many it missed"
    case outside = "9 Other apps: another app opens public URLs and does nothing else"
    case links = "9 Other apps: an open goes to the app of its scheme, once, on a connection that keeps the bounds"
    case authorization = "8 Authorization: a protected action runs only after the authorizer has allowed it"
    case start = "11 The start: a row whose start has failed holds nobody up"
    case failedStart = "6 Waiting: no request waits for a module whose start has failed"
    case shutDown = "11 The end: the bus ends when all modules have ended, or their time is over"
    case form = "3 Header: the bus sends frames that can be read"
    case quota = "13 Limits: a peer has no more than its limits say"
    case nothingLeft = "13 Limits: nothing is left after all peers have disconnected"
    case work = "13 Limits: the work for one event has a bound"
    case replacement = "10 handOver: a peer sees nothing of the broker's replacement"
    case alive = "4 Kinds: the bus keeps running, whatever peers send"
}

/// A rule that was broken.
package struct SimulationFinding: Error, Sendable, Equatable, CustomStringConvertible {
    package let rule: SimulationRule
    /// What was seen, and what should have been.
    package let message: String

    package var description: String { "\(rule.rawValue)\n  \(message)" }
}
