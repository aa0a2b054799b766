public import Foundation
import FoundationNetworking
public import ServiceLifecycle
import StrataOperator

/// Pushes the spans of an app to an OpenTelemetry collector, over OTLP/HTTP with JSON.
///
/// It follows the specification of OTLP: 429, 502, 503 and 504 are tried again, after the collector's
/// `Retry-After` or with growing pauses; other refusals lose the batch, which is said.
public struct SpanPusher: Service {
    private static let pause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(30)
    /// How long a collector may take, in seconds.
    private static let patience: TimeInterval = 5

    private let url: URL
    private let path: String

    /// - Parameters:
    ///   - url: the collector's address, such as `http://127.0.0.1:4318/v1/traces`.
    ///   - file: the file that `strata up --spans` names.
    public init(url: URL, file: String) {
        self.url = url
        path = file
    }

    /// Pushes until the service is shut down.
    public func run() async throws {
        // So that no pause and no collector holds the end up.
        await cancelWhenGracefulShutdown { await push() }
    }

    private func push() async {
        var file = SpanReader(path)
        var pause = Self.pause
        while !Task.isCancelled {
            do {
                while let batch = try file.next() {
                    if !batch.request.isEmpty { try await push(batch) }
                    file.advance(past: batch)
                    if batch.malformed > 0 {
                        Self.say("\(batch.malformed) lines of \(path) are no spans, and were left out")
                    }
                    pause = Self.pause
                }
                // The file is polled, because it may be on a file system without notifications.
                try await Task.sleep(for: Self.pause)
            } catch is CancellationError {
                break
            } catch {
                Self.say("the collector at \(url) doesn't take spans: \(error); trying again in \(pause)")
                // A pause, because a busy collector must not be asked at once.
                try? await Task.sleep(for: (error as? Busy)?.after ?? pause)
                pause = min(pause * 2, Self.longestPause)
            }
        }
    }

    /// A collector that asks to be asked again.
    private struct Busy: Error, CustomStringConvertible {
        var status: Int
        var after: Duration?
        var description: String { "it answered \(status)" }
    }

    private func push(_ batch: SpanReader.Batch) async throws {
        var request = URLRequest(url: url, timeoutInterval: Self.patience)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        let (body, response) = try await Self.answer(to: request, with: Data(batch.request))
        guard let response = response as? HTTPURLResponse else { return }
        switch response.statusCode {
        case 200..<300: return
        case 429, 502, 503, 504:
            let seconds = response.value(forHTTPHeaderField: "Retry-After").flatMap { Int($0) }
            throw Busy(status: response.statusCode, after: seconds.map { .seconds(min(max($0, 1), 300)) })
        default:
            Self.say(
                "the collector at \(url) refused \(batch.spans) spans, which are lost: \(response.statusCode) "
                    + ControlLog.printable(String(decoding: body.prefix(4_096), as: UTF8.self)))
        }
    }

    /// Uploads as `URLSession.upload` does, which hangs for ever if its task is cancelled while a response
    /// arrives: it cancels under the lock that the response needs (swift-corelibs-foundation, issue 5412).
    private static func answer(to request: URLRequest, with body: Data) async throws -> (Data, URLResponse?) {
        let (answers, continuation) = AsyncThrowingStream<(Data, URLResponse?), any Error>.makeStream()
        let upload = URLSession.shared.uploadTask(with: request, from: body) { body, response, error in
            if error == nil { continuation.yield((body ?? Data(), response)) }
            continuation.finish(throwing: error)
        }
        continuation.onTermination = { end in
            // On another thread, because this one may hold the lock.
            if case .cancelled = end { DispatchQueue.global().async { upload.cancel() } }
        }
        upload.resume()
        for try await answer in answers { return answer }
        throw CancellationError()
    }

    private static func say(_ text: String) {
        FileHandle.standardError.write(Data("strata-web: \(text)\n".utf8))
    }
}
