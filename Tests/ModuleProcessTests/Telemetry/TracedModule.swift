import Glibc
import StrataCore
import Testing
import Tracing

@testable import Strata

/// A module whose handlers make requests, notifications and spans of their own.
final class TracedModule: Module {
    static let name = "Traced"
    private let bus: Bus

    init(bus: Bus) { self.bus = bus }

    func register(_ exports: inout Exports) {
        exports.action("Traced/ask") { [bus] call in try await bus.call("Other/answer", try call.params) }
        exports.action("Traced/plain") { _ in "at once" }
        exports.action("Traced/fail") { _ in throw ModuleError("Traced.no-disc", "put one in") }
        exports.action("Traced/tell") { [bus] _ in
            try bus.broadcast("traced.told")
            return .null
        }
        exports.action("Traced/leave") { [bus] _ in
            try bus.background("later") { _ = try await bus.call("Other/answer") }
            return .null
        }
        exports.action("Traced/nest") { [bus] _ in
            guard let tracer = bus.runtime.telemetry?.tracing?.tracer as? FileTracer else { return "off" }
            return try await tracer.withSpan("inner") { span in
                span.attributes["size"] = 3
                return try await bus.call("Other/answer")
            }
        }
        exports.stream("Traced/count") { call in
            let most = try call.params.integer ?? 0
            return AsyncStream<JSON> { stream in
                for number in 0..<most { stream.yield(.integer(number)) }
                stream.finish()
            }
        }
        exports.anyAction(of: "Proxy") { $0.body }
        exports.observe("news") { [bus] _ in _ = try await bus.call("Other/answer") }
        exports.observe("latest", keep: .latest) { _ in }
    }
}

/// A span from a file, in which spans come in the order of their ends.
struct WrittenSpan {
    let json: JSON
    /// The attributes of the process.
    let resource: [String: JSON]

    subscript(_ name: String) -> JSON? { json[name] }
    var name: String { json["name"]?.string ?? "" }
    var trace: String { json["traceId"]?.string ?? "" }
    var id: String { json["spanId"]?.string ?? "" }
    var parent: String? { json["parentSpanId"]?.string }
    var kind: Int64 { json["kind"]?.integer ?? 0 }
    var attributes: [String: JSON] { Self.attributes(json["attributes"]) }
    func text(_ name: String) -> String? { attributes[name]?["stringValue"]?.string }

    /// Returns all spans of a file, each of whose lines must be complete.
    static func all(in path: String) throws -> [WrittenSpan] {
        let file = try #require(fopen(path, "r"), "there is no \(path)")
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&piece, 1, piece.count, file), count > 0 { bytes += piece[..<count] }
        #expect(bytes.isEmpty || bytes.last == UInt8(ascii: "\n"))
        return try bytes.split(separator: UInt8(ascii: "\n")).flatMap { line -> [WrittenSpan] in
            let json = try JSON(parsing: Array(line))
            let of = try #require(json["resourceSpans"]?.array?.first)
            #expect(json.object?.count == 1)
            let spans = of["scopeSpans"]?.array?.first?["spans"]?.array ?? []
            return spans.map { WrittenSpan(json: $0, resource: attributes(of["resource"]?["attributes"])) }
        }
    }

    private static func attributes(_ list: JSON?) -> [String: JSON] {
        let pairs = (list?.array ?? []).map { ($0["key"]?.string ?? "", $0["value"] ?? .null) }
        return Dictionary(pairs) { $1 }
    }
}

/// A file for spans, removed after the test.
final class SpansFile: Sendable {
    let path: String
    let tracer: FileTracer

    init() throws {
        var template = Array("/tmp/strata-spans-XXXXXX".utf8CString)
        close(mkstemp(&template))
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        tracer = FileTracer(try #require(SpanFile(path: path)), SpanResource(module: "Traced", pid: getpid()))
    }

    deinit { unlink(path) }

    /// Returns the spans that are written by now.
    func spans() throws -> [WrittenSpan] {
        tracer.forceFlush()
        return try WrittenSpan.all(in: path)
    }
}
