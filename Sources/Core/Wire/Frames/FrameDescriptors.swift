internal import Glibc

/// Open descriptors on their way with a frame, from the process that sent them to the one that gets
/// them. They are closed when nothing refers to them any longer: exactly once, whatever ends first.
///
/// Used on the thread of one loop.
public final class FrameDescriptors {
    /// The most that a frame may have.
    public static let most = 16

    public let numbers: [Int32]
    /// Why they can't go on with their frame; nil if they can.
    public let refusal: String?
    /// What counts them for their sender.
    public let count: DescriptorCount?
    private var isOwner = true

    /// Takes descriptors over.
    public init(_ numbers: [Int32], refusal: String? = nil, _ count: DescriptorCount? = nil) {
        self.numbers = numbers
        self.refusal = refusal
        self.count = count
        count?.add(numbers.count)
    }

    deinit {
        count?.add(-numbers.count)
        guard isOwner, !numbers.isEmpty else { return }
        if let count { count.close(numbers) } else { DescriptorCount.closeHere(numbers) }
    }

    /// Leaves them open, because another owner closes them, such as the program that replaces this
    /// one.
    public func letGo() { isOwner = false }
}

/// The descriptors of one sender that are in a process.
public final class DescriptorCount {
    /// The number of the sender.
    public let sender: UInt64
    private var open = 0
    /// Counts those of all senders.
    private let all: DescriptorCount?
    /// What closes them; nil for this thread.
    public var closer: (any DescriptorCloser)?

    public init(of sender: UInt64 = 0, in all: DescriptorCount? = nil) {
        self.sender = sender
        self.all = all
    }

    /// The number of open descriptors, including those that wait to be closed.
    public var count: Int { open + (closer?.pending ?? 0) }

    /// Closes descriptors of the sender.
    public func close(_ numbers: [Int32]) {
        if let closer = (all ?? self).closer { closer.close(numbers) } else { Self.closeHere(numbers) }
    }

    fileprivate func add(_ further: Int) {
        open += further
        all?.add(further)
    }

    static func closeHere(_ numbers: [Int32]) { for number in numbers { Glibc.close(number) } }
}

/// Closes descriptors elsewhere, because closing may block: the file system of a user's program is
/// asked, and a socket may wait for its last bytes (SO_LINGER).
public protocol DescriptorCloser: AnyObject {
    /// How many wait to be closed.
    var pending: Int { get }
    func close(_ numbers: [Int32])
}
