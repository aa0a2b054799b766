/// A kind of abuse: who does what is in RawClient's abuse_plans.c, under the same name.
struct Abuse {
    let name: String
    /// What is said of it in the table.
    let title: String
    /// Connections whose queue it can fill.
    var fullQueues = 0
    /// Frames of the largest size that are on their way at once.
    var largestFrames = 0
    var connections = 8
    var observations = 0
    /// The code and a part of the message by which it is told, or others are told of
    /// it; nil where all that it does is allowed.
    var isNamedBy: (code: String, part: String)?

    /// What the broker may grow by, in KiB, by the limits that the table has.
    /// - A full queue has 8 MiB; its memory grows by doubling, and so does that of the
    ///   places of its frames, which have half their size where frames are small: three
    ///   times the limit.
    /// - A frame of the largest size has 16 MiB.
    /// - A connection costs up to 4 KiB, an observation 1 KiB.
    /// - What the C library keeps for later, and pieces between: 16 MiB.
    var allowedGrowth: Int {
        fullQueues * 3 * (8 << 10) + largestFrames * (16 << 10) + connections * 4 + observations + (16 << 10)
    }

    static let all = [
        Abuse(
            name: "calls", title: "calls without waiting for answers", fullQueues: 2,
            isNamedBy: ("overloaded", "Flooder0 has 1024 open requests (limits.calls)")),
        Abuse(
            name: "refused-calls", title: "calls that are refused", fullQueues: 1,
            isNamedBy: ("unknown-interface", "Nobody")),
        Abuse(name: "deaf-callers", title: "8 callers that read no answer, 64 KiB each", fullQueues: 9),
        Abuse(
            name: "deaf-callee", title: "a callee that reads nothing, 4 callers", fullQueues: 5,
            isNamedBy: ("overloaded", "the queue to Sink0 is full")),
        Abuse(
            name: "trickle", title: "100 that send a byte a second", connections: 100,
            isNamedBy: ("bad-frame", "not complete")),
        Abuse(
            name: "connections", title: "4,096 connections", connections: 4_096,
            isNamedBy: ("overloaded", "the last 16 of 4096 connections (limits.connections)")),
        Abuse(name: "storm", title: "connecting, hello, closing, at once again"),
        Abuse(
            name: "observations-same", title: "10 × 1,000 observations of one name, 10 broadcasts/s",
            observations: 10_000),
        Abuse(
            name: "observations-distinct", title: "10,000 observed names, 10,000 broadcasts/s", observations: 10_000),
        Abuse(
            name: "publisher-all", title: "100,000 broadcasts/s, a slow observer keeps all", fullQueues: 2,
            isNamedBy: ("slow-consumer", "SlowAll0 fell behind")),
        Abuse(
            name: "publisher-latest", title: "100,000 broadcasts/s, a slow observer keeps the latest", fullQueues: 2),
        Abuse(name: "large-frames", title: "calls of 16 MiB", largestFrames: 3),
        Abuse(
            name: "bad-frames", title: "frames over the limit, at once again",
            isNamedBy: ("too-large", "4294967295 bytes")),
        Abuse(
            name: "bad-hellos", title: "hellos that are refused, at once again", isNamedBy: ("bad-params", "hello's")),
        Abuse(
            name: "large-hellos", title: "hellos of 4,096 values that are refused, at once again",
            isNamedBy: ("bad-params", "hello's")),
        Abuse(name: "leaves", title: "1,000 that leave together, at once again", connections: 1_000),
        Abuse(
            name: "silent", title: "70 that say no hello, opened anew as they are closed", connections: 70,
            isNamedBy: ("overloaded", "(limits.unregistered)")),
        Abuse(
            name: "opens", title: "URLs that fail at their last segment, beside 1,024 patterns", fullQueues: 1,
            connections: 9, isNamedBy: ("unknown-path", "the path ")),
        Abuse(
            name: "interfaces", title: "bus/interfaces beside 256 interfaces of 56 long names", fullQueues: 2,
            connections: 17),
    ]
}
