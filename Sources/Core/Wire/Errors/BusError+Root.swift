extension BusError {
    /// The failure that an error began with: the first request that failed under the request that
    /// the error answers, followed down to the module that failed first. The bus writes it, whatever
    /// the modules between say (the protocol's section 6).
    ///
    /// A class, because few errors have one, and its texts would make every error larger.
    public final class Root: Sendable {
        public let code: ErrorCode
        public let message: String
        /// The module that had the request; `bus` if none had it.
        public let module: String
        /// The request: `Interface/action`, or a report's name. Nil for a URL that led nowhere.
        public let path: String?

        /// The most bytes of each text, as a header encodes them. All together stay below the 1 KiB
        /// by which a forwarded header may exceed the limit.
        private enum Most { static let (code, message, path) = (128, 256, 256) }

        /// Cuts each text at its limit.
        /// - Parameter module: a module's name, `launcher` or `bus`.
        public init(_ code: ErrorCode, _ message: String, module: String, path: String?) {
            self.code = ErrorCode(code.rawValue.shortened(to: Most.code))
            self.message = message.shortened(to: Most.message)
            self.module = module
            self.path = path?.shortened(to: Most.path)
        }

        /// Reads the header's member `root`; nil if it isn't one.
        public convenience init?(_ json: UnsafeRawBufferPointer) {
            guard !json.isEmpty, let value = try? JSON(parsing: Array(json)), let code = value["code"]?.string,
                let message = value["message"]?.string, let module = value["module"]?.string
            else { return nil }
            self.init(ErrorCode(code), message, module: module, path: value["path"]?.string)
        }

        /// The value of the header's member `root`.
        public var json: JSON {
            .object(
                [
                    .init("code", .string(code.rawValue)), .init("message", .string(message)),
                    .init("module", .string(module)),
                ] + (path.map { [.init("path", .string($0))] } ?? []))
        }
    }
}

extension BusError.Root: CustomStringConvertible {
    /// One sentence for people: `Storage/read in Storage: failed: no such table`.
    public var description: String { "\(path.map { "\($0) in " } ?? "")\(module): \(code): \(message)" }
}
