/// Elements that a module pushes to whoever reads the streams that are exported from the topic.
///
///     let changes = Topic<Rules.Change>(buffer: 64, overflow: .dropOldest)
///     exports.stream(Rules.Changes.self, from: changes)
///     await changes.send(Rules.Change(rule: "disk", state: .on))
///
/// Each call of such a stream is a reader with a buffer of its own. A reader begins with the element
/// that is sent next; earlier ones are not kept.
@ModuleActor
public final class Topic<Element: Sendable> {
    /// What happens to a reader that has as many elements unread as the buffer holds.
    public enum Overflow: Sendable {
        /// The reader loses its oldest element. The stream tells it how many it has lost:
        /// `ReplyStream.Iterator.missed`, and the gap of `Bus.follow`.
        case dropOldest
        /// `send` waits for the reader, and so holds up all readers. A reader that never reads holds
        /// them up until its stream ends.
        case waitForReader
        /// The reader's stream ends at once with the error `overloaded`.
        case endSlow
    }

    /// The elements that each reader may have unread.
    public let buffer: Int
    /// What happens to a reader whose buffer is full.
    public let overflow: Overflow
    private var all: [TopicReader<Element>] = []
    /// The sends that wait for readers, the first one first.
    private var sends: [Send] = []
    private var ending: Result<Void, ModuleError>?

    /// A send that waits for its turn.
    @ModuleActor
    private final class Send {
        var isCancelled = false
        var waiter: UnsafeContinuation<Void, Never>?

        func wake() {
            waiter?.resume()
            waiter = nil
        }
    }

    /// Creates a topic without readers.
    /// - Parameters:
    ///   - buffer: The elements that each reader may have unread, 1 or more.
    ///   - overflow: What happens to a reader whose buffer is full.
    public init(buffer: Int = 64, overflow: Overflow = .dropOldest) {
        precondition(buffer >= 1, "a topic's buffer has \(buffer) elements: give it 1 or more")
        self.buffer = buffer
        self.overflow = overflow
    }

    /// The number of readers.
    public var readers: Int { all.count }

    /// Sends an element to every reader. Waits only under `waitForReader`, until every reader that gets
    /// it has room. After `finish`, does nothing.
    /// - Throws: `CancellationError` if the task is cancelled while it waits. Then no reader gets the
    ///   element.
    public func send(_ element: Element) async throws {
        guard !sends.isEmpty || !hasRoom(for: element) else { return push(element) }
        let send = Send()
        sends.append(send)
        defer {
            sends.removeAll { $0 === send }
            sends.first?.wake()
        }
        try await withTaskCancellationHandler {
            while ending == nil, sends.first !== send || !hasRoom(for: element) {
                if send.isCancelled { throw CancellationError() }
                await withUnsafeContinuation { send.waiter = $0 }
            }
            push(element)
        } onCancel: {
            onModuleActor {
                send.isCancelled = true
                send.wake()
            }
        }
    }

    /// Sends an element to every reader, without waiting: for handlers that aren't `async`.
    /// - Returns: False if a reader under `waitForReader` has no room. Then no reader gets the element.
    @discardableResult
    public func sendNow(_ element: Element) -> Bool {
        guard sends.isEmpty, hasRoom(for: element) else { return false }
        push(element)
        return true
    }

    /// Ends all streams, those of later calls too: each reader gets what it has unread, then the end.
    /// - Parameter error: What the streams end with; nil for the normal end.
    public func finish(throwing error: ModuleError? = nil) {
        guard ending == nil else { return }
        let ending: Result<Void, ModuleError> = error.map { .failure($0) } ?? .success(())
        self.ending = ending
        for reader in all { reader.end(ending) }
        for send in sends { send.wake() }
    }

    private func hasRoom(for element: Element) -> Bool {
        overflow != .waitForReader || all.allSatisfy { $0.count < buffer || !$0.wants(element) }
    }

    private func push(_ element: Element) {
        guard ending == nil else { return }
        // A copy, because a slow reader leaves meanwhile.
        for reader in all where reader.wants(element) {
            if reader.count < buffer {
                reader.add(element)
            } else if overflow == .dropOldest {
                reader.dropOldest()
                reader.add(element)
            } else {
                reader.stop(
                    ModuleError(
                        .overloaded,
                        "\(reader.stream) ended, because its reader left \(buffer) elements unread, as many as its topic "
                            + "buffers: read faster, or call it again", ran: .yes))
                leave(reader)
            }
        }
    }

    // MARK: Readers

    /// Adds a reader.
    /// - Parameters:
    ///   - stream: The stream's name in messages.
    ///   - stop: Ends the stream at once with an error.
    func read(
        for stream: String, where isWanted: ((Element) -> Bool)?, stop: @escaping (ModuleError) -> Void
    ) -> TopicReader<Element> {
        let reader = TopicReader(of: stream, where: isWanted, stop: stop) { [weak self] in self?.hasMoreRoom() }
        if let ending { reader.end(ending) } else { all.append(reader) }
        return reader
    }

    /// Removes a reader.
    func leave(_ reader: TopicReader<Element>) {
        all.removeAll { $0 === reader }
        hasMoreRoom()
    }

    private func hasMoreRoom() { sends.first?.wake() }
}

/// A topic of any element.
@ModuleActor
protocol EndableTopic: AnyObject {
    func finish(throwing error: ModuleError?)
}

extension Topic: EndableTopic {}

/// The unread elements of one reader of a topic.
@ModuleActor
final class TopicReader<Element: Sendable> {
    let stream: String
    private let isWanted: ((Element) -> Bool)?
    let stop: (ModuleError) -> Void
    private let onTaken: () -> Void
    private var elements: [Element] = []
    private var head = 0
    /// How many elements were dropped before the oldest that is left.
    private var missed = 0
    private var ending: Result<Void, ModuleError>?
    private var waiter: UnsafeContinuation<Void, Never>?

    init(
        of stream: String, where isWanted: ((Element) -> Bool)?, stop: @escaping (ModuleError) -> Void,
        onTaken: @escaping () -> Void
    ) {
        self.stream = stream
        self.isWanted = isWanted
        self.stop = stop
        self.onTaken = onTaken
    }

    var count: Int { elements.count - head }

    func wants(_ element: Element) -> Bool { isWanted?(element) ?? true }

    func add(_ element: Element) {
        elements.append(element)
        wake()
    }

    func dropOldest() {
        remove()
        missed += 1
    }

    func end(_ ending: Result<Void, ModuleError>) {
        self.ending = ending
        wake()
    }

    /// Waits for the next element.
    /// - Returns: The element, and how many were dropped before it; nil at the end.
    func next() async throws -> (Element, missed: Int)? {
        try await withTaskCancellationHandler {
            while count == 0 {
                try Task.checkCancellation()
                if let ending {
                    try ending.get()
                    return nil
                }
                await withUnsafeContinuation { waiter = $0 }
            }
            defer { missed = 0 }
            let element = remove()
            onTaken()
            return (element, missed)
        } onCancel: {
            onModuleActor { self.wake() }
        }
    }

    private func wake() {
        waiter?.resume()
        waiter = nil
    }

    @discardableResult
    private func remove() -> Element {
        let element = elements[head]
        head += 1
        // Moves the rest only after as many have been taken, so each element is moved once at most.
        if head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }
}
