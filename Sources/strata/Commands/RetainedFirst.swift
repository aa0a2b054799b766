import StrataCore
import StrataOperator

/// Shows what the bus has retained of observed names before what passes meanwhile, which it holds until
/// then. A broker without such a list shows nothing of it.
final class RetainedFirst {
    private let wanted: ObservedNames
    private let answer: Answer
    private var held: [[UInt8]] = []
    private var isDone = false
    private var shown: Set<Int64> = []
    /// The names that are left to be asked for.
    private var names: ArraySlice<String>

    init(_ wanted: ObservedNames, _ answer: Answer) {
        (self.wanted, self.answer) = (wanted, answer)
        names = wanted.names[...]
    }

    /// Holds a partial reply of the monitor until all that is retained was shown.
    /// - Returns: False if it is to be shown at once.
    func holds(_ body: [UInt8]) -> Bool {
        if !isDone { held.append(body) }
        return !isDone
    }

    /// Asks for what is retained, and shows it.
    func ask(_ client: BusClient, then: @escaping () -> Void) { ask(client, from: nil, then) }

    /// Passes on what was held, and holds nothing any more.
    func release(_ show: ([UInt8]) -> Void) {
        isDone = true
        for body in held { show(body) }
        held = []
    }

    private func ask(_ client: BusClient, from next: Int64?, _ then: @escaping () -> Void) {
        guard let name = names.first, client.welcome?.features.contains(BrokerFeature.retain) == true else {
            return then()
        }
        client.ask("bus/retained", RetainedRow.params(of: name, bodies: true, from: next)) { [self] result in
            var following: Int64?
            if case .success(let json) = result {
                let page = RetainedRow.page(json)
                following = page.next
                show(page.rows)
            }
            if following == nil { names.removeFirst() }
            ask(client, from: following, then)
        }
    }

    private func show(_ rows: [RetainedRow]) {
        for row in rows where wanted.object == nil || row.object == wanted.object {
            // Two of the patterns may match it.
            guard shown.insert(row.number).inserted else { continue }
            if answer.isForPrograms {
                StandardOutput.write(line: row.marked.encoded())
            } else {
                NotificationLine(answer.painter).show(row)
            }
        }
    }
}

extension RetainedRow {
    /// The row with a member that tells it from a frame that passes.
    fileprivate var marked: JSON { .object([.init("retained", true)] + (json.object ?? [])) }
}
