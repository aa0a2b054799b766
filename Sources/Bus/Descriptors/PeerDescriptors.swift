import StrataCore

/// The descriptors of a peer that takes some, as long as they are in the broker.
final class PeerDescriptors {
    /// What the peer's hello says that it takes.
    struct Terms: OptionSet {
        let rawValue: UInt8
        /// Descriptors of the application.
        static let descriptors = Terms(rawValue: 1)
        /// Bodies in memory files.
        static let memory = Terms(rawValue: 2)
    }

    let terms: Terms

    /// The most of one sender, and no more than a quarter of all but for one frame.
    private static let most = 64

    private let count: DescriptorCount
    /// Counts those of answers to it.
    private lazy var answers = DescriptorCount(of: count.sender, user: user, in: all)
    private let user: UInt32
    private let all: DescriptorCount
    /// Those of each frame, in order, whose frames aren't handled yet.
    private(set) var received: [FrameDescriptors] = []
    /// Whether more came than may be in the broker, even until they are closed.
    private(set) var isOverrun = false
    private var isEnded = false

    /// - Parameter user: the peer's user.
    init(_ terms: Terms, of peer: UInt64, user: UInt32, in all: DescriptorCount) {
        self.terms = terms
        self.user = user
        count = DescriptorCount(of: peer, user: user, in: all)
        self.all = all
    }

    /// Takes what came with some bytes. What goes beyond a bound is closed, and its frame refused.
    /// - Parameter mostOfAll: the most of all senders together.
    func receive(_ numbers: [Int32], isWhole: Bool, mostOfAll: Int) {
        guard !isEnded else { return count.close(numbers) }
        guard let refusal = refusal(of: numbers, isWhole, mostOfAll) else { return received.append(take(numbers)) }
        isOverrun = all.count > mostOfAll + Self.most || count.pendingOfUser > Self.share(of: mostOfAll)
        count.close(numbers)
        received.append(FrameDescriptors(refused: refusal))
    }

    /// Keeps no more, because none of its frames is handled any more.
    func end() {
        isEnded = true
        received = []
    }

    func add(_ descriptors: FrameDescriptors) { received.append(descriptors) }

    /// Takes descriptors over that are in the broker already.
    func take(_ numbers: [Int32]) -> FrameDescriptors { FrameDescriptors(numbers, count) }

    /// Counts the descriptors of an answer for this peer, which gets it, and no longer for the one that
    /// sent it. So who doesn't read can't use up another peer's share.
    /// - Parameter bytes: the most bytes of bodies in files.
    /// - Returns: why this peer can have no more here; nil if it can.
    func take(over descriptors: FrameDescriptors, bytes: Int) -> BusError? {
        guard answers.count + descriptors.numbers.count <= Self.most else {
            return BusError(
                .overloaded,
                "\(answers.count) descriptors of answers to this caller are in the broker: read them sooner")
        }
        return descriptors.move(to: answers, most: bytes)
    }

    func takeFirst() -> FrameDescriptors? { received.isEmpty ? nil : received.removeFirst() }

    func putBack(_ descriptors: FrameDescriptors) { received.insert(descriptors, at: 0) }

    /// The most of one user that may wait to be closed: a quarter of all, but for one frame.
    private static func share(of all: Int) -> Int { max(FrameDescriptors.most, all / 4) }

    private func refusal(of numbers: [Int32], _ isWhole: Bool, _ mostOfAll: Int) -> String? {
        if numbers.count > FrameDescriptors.most {
            return "\(numbers.count) descriptors came, and a frame may have \(FrameDescriptors.most)"
        }
        guard isWhole else { return "the broker can't open so many descriptors (RLIMIT_NOFILE): try later" }
        let share = Self.share(of: mostOfAll)
        let most = min(Self.most, share)
        if count.count + numbers.count > most {
            return "\(count.count) descriptors of this sender are in the broker, and \(most) may be: wait for answers"
        }
        let pending = count.pendingOfUser
        if pending + numbers.count > share {
            return "\(pending) descriptors of this sender's user wait to be closed, and \(share) may: try later"
        }
        if all.count + numbers.count > mostOfAll {
            return "\(all.count) descriptors are in the broker, and \(mostOfAll) may be: try later"
        }
        return nil
    }
}
