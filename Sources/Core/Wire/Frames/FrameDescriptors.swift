internal import Glibc

/// Open descriptors on their way with a frame, from the process that sent them to the one that gets
/// them. They are closed when nothing refers to them any longer: exactly once, whatever ends first.
///
/// One alone may instead be the file that holds the frame's body.
///
/// Used on the thread of one loop.
public final class FrameDescriptors {
    /// The most that a frame may have.
    public static let most = 16

    public let numbers: [Int32]
    /// Why they can't go on with their frame; nil if they can.
    public private(set) var refusal: BusError?
    /// The length of the frame's body if the only descriptor is a file that holds it, in bytes; else 0.
    public private(set) var bodyCount = 0
    /// The number of the application's descriptors, of which a file for the body is none.
    public var applicationCount: UInt8 { bodyCount == 0 ? UInt8(clamping: numbers.count) : 0 }
    /// That file, once somebody has asked for the bytes.
    private var file: MappedFile?
    /// What counts them for their sender, or for the receiver of an answer.
    public private(set) var count: DescriptorCount?
    private var isOwner = true
    /// Whether the kernel has taken them since they were queued last.
    private var wereSent = false
    /// The longest body whose file is closed on this thread, in bytes, once it was sent. Nearly always
    /// somebody else still has the file. If not, freeing so much takes some 5 ms. To pass the file to
    /// another thread would cost more than all else that the broker does for the frame.
    private static let longestClosedHere = 32 << 20

    /// Takes descriptors over.
    public init(_ numbers: [Int32], _ count: DescriptorCount? = nil) {
        self.numbers = numbers
        self.count = count
        count?.add(numbers.count)
    }

    /// Stands for descriptors that were closed already.
    public init(refused refusal: String) {
        numbers = []
        self.refusal = BusError(.overloaded, refusal)
        count = nil
    }

    /// Takes a sealed file over that this process has made for a body.
    public init(body number: Int32, count bodyCount: Int, _ count: DescriptorCount) {
        numbers = [number]
        self.bodyCount = bodyCount
        self.count = count
        recount(count)
    }

    /// Takes the only descriptor as the file that holds the frame's body, if it is one: see `refusal`.
    /// - Parameters:
    ///   - length: the body's length as its sender said, in bytes.
    ///   - most: the most bytes of such files that the sender may have here.
    public func holdBody(of length: Int, most: Int) {
        guard refusal == nil, bodyCount == 0 else { return }
        do throws(BusError) {
            try count?.check(length, most)
            try MappedFile.check(sealed: numbers[0], count: length)
            bodyCount = length
            count?.addBytes(length)
        } catch {
            refusal = error
        }
    }

    /// Returns the file that these bytes are in; nil if they aren't the mapped body.
    public func file(of bytes: UnsafeRawBufferPointer) -> MappedFile? {
        file.flatMap { $0.bytes.baseAddress == bytes.baseAddress ? $0 : nil }
    }

    /// Returns the file that holds the body, mapped. To map it costs as much as all else that the broker
    /// does for it, so only who needs the bytes asks.
    public func mappedBody() throws(BusError) -> MappedFile {
        if let file { return file }
        let mapped = try MappedFile(sealed: numbers[0], count: bodyCount)
        file = mapped
        return mapped
    }

    /// Has them counted by another count of the same process.
    /// - Returns: why it can't have so many bytes; nil if it can.
    public func move(to other: DescriptorCount, most: Int) -> BusError? {
        uncount()
        do throws(BusError) { try other.check(bodyCount, most) } catch {
            recount(count)
            return error
        }
        recount(other)
        return nil
    }

    private func uncount() {
        count?.add(-numbers.count)
        if bodyCount > 0 { count?.addBytes(-bodyCount) }
    }

    private func recount(_ count: DescriptorCount?) {
        self.count = count
        count?.add(numbers.count)
        if bodyCount > 0 { count?.addBytes(bodyCount) }
    }

    deinit {
        uncount()
        // Before its descriptor: whoever lets go of the file last frees it, which may take long.
        file = nil
        guard isOwner, !numbers.isEmpty else { return }
        let isQuick = wereSent && (1...Self.longestClosedHere).contains(bodyCount)
        if let count, !isQuick { count.close(numbers) } else { DescriptorCount.closeHere(numbers) }
    }

    /// Notes that they wait in a queue.
    public func queued() { wereSent = false }

    /// Notes that the kernel has taken them.
    public func sent() { wereSent = true }

    /// Leaves them open, because another owner closes them, such as the program that replaces this
    /// one.
    public func letGo() { isOwner = false }
}

/// Counts the descriptors of one sender that are in this process, and the bytes of the bodies among them.
public final class DescriptorCount {
    /// How many times as many bytes may be here of all senders together as of one.
    public static let senders = 4

    /// The number of the sender.
    public let sender: UInt64
    /// The sender's user, by the kernel's word.
    private let user: UInt32
    private var open = 0
    private var bytes = 0
    /// Counts those of all senders.
    private let all: DescriptorCount?
    /// What closes them; nil for this thread.
    public var closer: (any DescriptorCloser)?

    public init(of sender: UInt64 = 0, user: UInt32 = .max, in all: DescriptorCount? = nil) {
        self.sender = sender
        self.user = user
        self.all = all
    }

    /// The bytes of the bodies among them.
    public var bodyBytes: Int { bytes }

    /// How many are open. Those that wait to be closed are still open.
    public var count: Int { open + (closer?.pending ?? 0) }

    /// How many of the sender's user wait to be closed.
    public var pendingOfUser: Int { (all ?? self).closer?.pending(of: user) ?? 0 }

    /// Closes descriptors of the sender.
    public func close(_ numbers: [Int32]) {
        if let closer = (all ?? self).closer { closer.close(numbers, of: user) } else { Self.closeHere(numbers) }
    }

    fileprivate func add(_ further: Int) {
        open += further
        all?.add(further)
    }

    /// Checks that a body of `length` bytes may be here as well.
    fileprivate func check(_ length: Int, _ most: Int) throws(BusError) {
        guard length <= most else {
            throw BusError(.tooLarge, "a body of \(length) bytes was sent, and the limit is \(most) (limits.body)")
        }
        guard bytes + length <= most else {
            throw BusError(
                .overloaded,
                "\(bytes) bytes in memory files of this sender are in the broker, these are \(length) more, and "
                    + "\(most) may be (limits.body): wait for answers")
        }
        guard let all, all.bytes + length > Self.senders * most else { return }
        throw BusError(
            .overloaded,
            "\(all.bytes) bytes in memory files are in the broker, these are \(length) more, and \(Self.senders) times "
                + "limits.body may be: try later")
    }

    fileprivate func addBytes(_ further: Int) {
        bytes += further
        all?.addBytes(further)
    }

    /// Closes descriptors on this thread.
    public static func closeHere(_ numbers: [Int32]) { for number in numbers { Glibc.close(number) } }
}

/// Closes descriptors elsewhere, because closing may block: the file system of a user's program is
/// asked, and a socket may wait for its last bytes (SO_LINGER).
public protocol DescriptorCloser: AnyObject {
    /// How many wait to be closed.
    var pending: Int { get }
    /// How many of a user's do.
    func pending(of user: UInt32) -> Int
    func close(_ numbers: [Int32], of user: UInt32)
}
