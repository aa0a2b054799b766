internal import Glibc
internal import StrataCore
internal import Synchronization

/// An open file descriptor that this process owns: a file, a pipe, a socket, memory. It is closed
/// when nothing refers to it any longer, exactly once.
///
/// Descriptors go with calls, replies and reports between modules that say so:
/// `Exports.action(_:descriptors:auth:perform:)` and `Exports.usesDescriptors()`. The idea is from
/// D-Bus and varlink.
public final class Descriptor: Sendable {
    private let own: Atomic<Int32>

    /// Takes an open descriptor over, and closes it at the end.
    public init(_ number: Int32) { own = Atomic(number) }

    deinit { if number >= 0 { close(number) } }

    /// The descriptor's number; -1 once it was taken.
    public var number: Int32 { own.load(ordering: .relaxed) }

    /// Returns the number, and leaves the descriptor to the caller, who closes it; -1 the second time.
    public func take() -> Int32 { own.exchange(-1, ordering: .relaxed) }
}

/// A reply, and the descriptors that go with it.
public struct WithDescriptors<Value: Sendable>: Sendable {
    public let value: Value
    public let descriptors: [Descriptor]

    /// - Parameters:
    ///   - value: The reply.
    ///   - descriptors: At most 16. They stay the sender's: the receiver gets copies.
    public init(_ value: Value, _ descriptors: [Descriptor] = []) {
        self.value = value
        self.descriptors = descriptors
    }
}

extension FrameDescriptors {
    /// Copies descriptors for a frame, so that their owner may close them at once.
    static func copies(of descriptors: [Descriptor], for what: String) throws(BusError) -> FrameDescriptors? {
        guard !descriptors.isEmpty else { return nil }
        guard descriptors.count <= most else {
            throw BusError(
                .badParams, "\(descriptors.count) descriptors were to go with \(what), and \(most) may")
        }
        var numbers: [Int32] = []
        for descriptor in descriptors {
            let copy = fcntl(descriptor.number, F_DUPFD_CLOEXEC, 0)
            guard copy >= 0 else {
                let code = errno
                for number in numbers { close(number) }
                throw BusError(
                    code == EBADF ? .badParams : .overloaded,
                    "the descriptor \(descriptor.number) can't go with \(what): \(String(cString: strerror(code)))")
            }
            numbers.append(copy)
        }
        return FrameDescriptors(numbers)
    }

    /// Takes them as objects of their own.
    func taken() -> [Descriptor] {
        letGo()
        return numbers.map { Descriptor($0) }
    }
}
