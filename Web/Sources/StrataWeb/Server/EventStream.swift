import Hummingbird
import NIOCore
import ServiceLifecycle

/// A tab's stream of events. It waits for the tab to take each piece, so that a tab that doesn't read
/// costs one piece and no queue.
enum EventStream {
    /// The pause between two pieces, so that a tab gets at most ten a second.
    private static let pause = Duration.milliseconds(100)
    /// After this many pauses without an event, a comment shows that the server lives.
    private static let quiet = 100
    private static let comment = Array(": \n\n".utf8)

    /// Writes events until the tab goes or the server stops.
    /// - Parameter next: returns the next events; empty if there are none, nil at the end.
    static func write(
        _ writer: inout any ResponseBodyWriter, next: () -> [UInt8]?
    ) async throws {
        var silence = 0
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            guard let text = next() else { break }
            silence = text.isEmpty ? silence + 1 : 0
            if !text.isEmpty {
                try await writer.write(ByteBuffer(bytes: text))
            } else if silence % quiet == 0 {
                try await writer.write(ByteBuffer(bytes: comment))
            }
            // A pause, because a tab can draw no faster, and the changes of the time between come together.
            try await Task.sleep(for: pause)
        }
        try await writer.finish(nil)
    }
}
