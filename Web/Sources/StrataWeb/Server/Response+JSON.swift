import HTTPTypes
import Hummingbird
import NIOCore
import StrataOperator

extension Response {
    /// Makes a response of a JSON value.
    static func json(_ value: JSON, status: HTTPResponse.Status = .ok) -> Response {
        .bytes(value.encoded(), type: "application/json", status: status)
    }

    /// Makes the response for an error, with words for people.
    static func failure(_ status: HTTPResponse.Status, _ message: String) -> Response {
        .json(["error": .string(message)], status: status)
    }

    static func bytes(_ bytes: [UInt8], type: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(status: status, headers: [.contentType: type], body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    /// Makes a stream of server-sent events.
    static func events(
        _ write: @escaping @Sendable (inout any ResponseBodyWriter) async throws -> Void
    ) -> Response {
        Response(status: .ok, headers: [.contentType: "text/event-stream"], body: .init(write))
    }
}
