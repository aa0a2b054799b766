/// A rule that must hold on joined brokers, named after the section of docs/nodes.md or
/// docs/protocol.md that states it.
package enum NodeRule: String, Sendable, CaseIterable {
    case onceAnswered = "Who decides: each request has one answer, and each answer is for a request"
    case answered = "What crosses: an answer is the callee's answer"
    case ran = "Faults: ran says what happened to the callee, then and later"
    case begunOnce = "Faults: a request begins at most once"
    case placed = "Naming a node: a request goes to a node of its row, and to the one that it names"
    case known = "What a module sees: from and node are the sender's"
    case levels = "Who decides: levels hold between all nodes"
    case order = "Order: what one module sends to another one arrives in its order"
    case verdict = "Faults: a verdict fits what has happened"
    case credit = "What crosses: partial replies keep to the credit and to their order"
    case cancelled = "What crosses: the callee of a request that has ended gets a cancel"
    case observed = "Missed broadcasts: a notice is for an observation that is there"
    case onceNotified = "Missed broadcasts: the broadcasts of a sender rise, and none comes twice"
    case missed = "Missed broadcasts: each observer gets each broadcast, or learns how many it missed"
    case retained =
        "Retained broadcasts: when all is well again, each observer's last broadcast is the one that is retained"
    case connected = "Connections: a connection between two brokers ends only for a reason"
    case rejoined = "Faults: when all is well again, all nodes are up, and know of each other what is so"
    case ended = "Who decides: when all is well again, each request has its answer"
    case nothingLeft = "13 Limits: nothing is left after all peers have disconnected"
    case form = "3 Header: a broker sends frames that can be read"
    case work = "13 Limits: the work for one event has a bound"
    case replacement = "10 handOver: the broker's next program continues"
    case alive = "4 Kinds: the brokers keep running"
}
