internal import CUV

/// A refusal of the operating system or of libuv.
public struct SystemError: Error, CustomStringConvertible, Sendable {
    /// The errno, positive.
    public var code: Int32
    /// What was tried, as a phrase: `bind /run/app.sock`.
    public var operation: String
    /// Where in this project.
    public var location: String

    /// Takes an errno, or libuv's negative form of it.
    public init(_ code: Int32, _ operation: String, file: StaticString = #fileID, line: UInt = #line) {
        self.code = code < 0 ? -code : code
        self.operation = operation
        self.location = "\(file):\(line)"
    }

    public var description: String {
        "\(operation): \(String(cString: uv_strerror(-code)))"
    }
}
