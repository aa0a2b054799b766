internal import StrataPipe

/// What carries messages between the links of all nodes. It loses, doubles and reorders some.
struct LossyCarrier {
    enum Message {
        case control([UInt8])
        case piece([UInt8])
    }

    /// The messages on their way, by sender and receiver.
    private var ways: [[[Message]]]
    private let harm: (lost: Int, doubled: Int, reordered: Int)
    private var numbers: SeededGenerator
    /// Whether it loses nothing any more.
    var isWell = false

    init(_ app: JoinedApp, _ numbers: SeededGenerator) {
        ways = Array(repeating: Array(repeating: [], count: app.nodes.count), count: app.nodes.count)
        (harm, self.numbers) = (app.harm, numbers)
    }

    mutating func publish(_ message: Message, from: Int, to: Int) { ways[from][to].append(message) }

    /// The number of messages on one way.
    func count(from: Int, to: Int) -> Int { ways[from][to].count }

    /// Takes the next message of a way that arrives; nil if there is none, or it is lost.
    mutating func take(from: Int, to: Int) -> Message? {
        guard !ways[from][to].isEmpty else { return nil }
        let place = happens(harm.reordered) ? numbers.below(ways[from][to].count) : 0
        let message = happens(harm.doubled) ? ways[from][to][place] : ways[from][to].remove(at: place)
        return happens(harm.lost) ? nil : message
    }

    private mutating func happens(_ perThousand: Int) -> Bool {
        perThousand > 0 && !isWell && numbers.chance(perThousand, in: 1_000)
    }

    /// Loses what is on its way to a node, and some of what the node has published.
    mutating func cut(_ node: Int) {
        for other in ways.indices where other != node {
            ways[other][node] = []
            ways[node][other].removeLast(numbers.below(ways[node][other].count + 1))
        }
    }

    /// Loses what is on its way to a node's link, whose process has ended.
    mutating func end(_ node: Int) {
        for other in ways.indices { ways[other][node] = [] }
    }
}
