import Hummingbird
import StrataOperator
import StrataPictures

/// What changes by itself: the stream of events, the lines of a module, and the picture.
struct FeedRoutes: Sendable {
    let bus: BusThread
    let feed: LiveFeed

    func add(to router: RouterGroup<PageContext>) {
        router.get("/api/events") { _, _ in events() }
        router.get("/api/logs") { request, _ in try await logs(try request.module()) }
        router.get("/api/picture") { request, _ in
            try await picture(request.uri.queryParameters["focus"].map(String.init))
        }
    }

    private func events() -> Response {
        guard let reader = feed.join() else {
            return .failure(.serviceUnavailable, "\(LiveFeed.mostReaders) tabs are open already: close one of them")
        }
        bus.post { $0.readerCame() }
        return .events { [feed] writer in
            var reading = LiveState.Reading()
            try await EventStream.write(&writer) { feed.events(&reading) }
            withExtendedLifetime(reader) {}
        }
    }

    private func logs(_ module: String) async throws -> Response {
        guard let tail = await bus.ask({ session, answer in answer(session.logs.open(module)) }) as LogTail? else {
            return .failure(
                .serviceUnavailable, "the lines of \(LogTails.most) modules are shown already: close one of them")
        }
        let reader = LogReader(tail, bus)
        return .events { writer in
            var number: UInt64 = 0
            try await EventStream.write(&writer) { reader.tail.event(from: &number) }
        }
    }

    private func picture(_ focus: String?) async throws -> Response {
        var graph: AppGraph = await bus.ask { session, answer in answer(session.graph) }
        if let focus {
            guard let part = graph.neighbourhood(of: focus) else {
                return .failure(.notFound, "the picture has no module \(focus)")
            }
            graph = part
        }
        return .json(GraphJSON.of(graph))
    }
}

/// A tab that shows a module's lines, which counts until its response is dropped.
private final class LogReader: Sendable {
    let tail: LogTail
    private let bus: BusThread

    init(_ tail: LogTail, _ bus: BusThread) { (self.tail, self.bus) = (tail, bus) }

    deinit { bus.post { [tail] in $0.logs.close(tail) } }
}

extension Request {
    /// Returns the query's module.
    func module() throws -> String {
        guard let name = uri.queryParameters["name"] ?? uri.queryParameters["module"], !name.isEmpty else {
            throw HTTPError(.badRequest, message: "name a module: ?module=NAME")
        }
        return String(name)
    }
}
