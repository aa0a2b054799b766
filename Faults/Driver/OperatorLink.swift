internal import Glibc
internal import Strata
internal import StrataTesting

/// The driver's own connection to the bus, made anew where it is lost.
final class OperatorLink {
    private let socket: String
    private var peer: RawPeer?
    /// Requests that are waited for by nobody: what is done with their answers.
    private var pending: [UInt64: (ReceivedFrame?) -> Void] = [:]

    init(_ socket: String) { self.socket = socket }

    /// Waits for nobody: a halted broker reads hello, and what stands behind it,
    /// when it goes on, and it is the driver that lets it.
    private func connected() throws -> RawPeer {
        if let peer, !peer.hasEnded { return peer }
        drop()
        let peer = try RawPeer(path: socket, label: "the driver")
        try peer.call("bus/hello", ["protocol": 1, "role": "operator"])
        self.peer = peer
        return peer
    }

    private func drop() {
        peer?.close()
        peer = nil
        let lost = pending
        pending = [:]
        for then in lost.values { then(nil) }
    }

    /// Calls, and waits; nil where there was no answer.
    func ask(_ action: String, _ params: JSON = [:], within time: Duration = .seconds(5)) -> ReceivedFrame? {
        do {
            let (seconds, attoseconds) = time.components
            let deadline = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
            let peer = try connected()
            let id = try peer.call(action, params == [:] ? nil : params, ["deadline": .integer(deadline)])
            return try peer.answer(to: id, within: time + .seconds(1))
        } catch {
            drop()
            return nil
        }
    }

    /// Calls, and goes on.
    func send(_ action: String, _ params: JSON, _ then: @escaping (ReceivedFrame?) -> Void) {
        do {
            let peer = try connected()
            pending[try peer.call(action, params == [:] ? nil : params, ["deadline": 20_000])] = then
        } catch {
            drop()
            then(nil)
        }
    }

    /// Takes in what has come, waiting so many milliseconds for it.
    func poll(_ milliseconds: UInt32) {
        do {
            guard let peer, !peer.hasEnded else {
                drop()
                usleep(milliseconds * 1_000)  // because without a connection nothing can come
                return
            }
            while let frame = try peer.nextIfAny(within: .milliseconds(milliseconds)) {
                pending.removeValue(forKey: frame.id)?(frame)
            }
        } catch { drop() }
    }

    /// The states of all rows.
    func states() -> [String: String] {
        let rows = ask("bus/modules")?.json["modules"]?.array ?? []
        return Dictionary(
            rows.compactMap { row in row["name"]?.string.flatMap { name in row["state"]?.string.map { (name, $0) } } },
            uniquingKeysWith: { $1 })
    }

    func close() { drop() }
}
