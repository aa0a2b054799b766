public import StrataCore

/// What a bus answers to hello.
public struct Welcome: Sendable {
    /// As the bus said it.
    public let json: JSON

    /// The longest frame and header that the bus takes.
    public let limits: FrameLimits

    /// Nil for what is no object.
    init?(_ body: [UInt8]) {
        guard let json = try? JSON(parsing: body), json.object != nil else { return nil }
        func limit(_ name: String) -> UInt32? { json["limits"]?[name]?.integer.flatMap { UInt32(exactly: $0) } }
        let standard = FrameLimits.beforeHello
        limits = FrameLimits(frame: limit("frame") ?? standard.frame, header: limit("header") ?? standard.header)
        self.json = json
    }

    /// The app's name.
    public var app: String { json["app"]?.string ?? "?" }
    /// The app's environment, as `STRATA_ENV` names it; empty for none.
    public var env: String { json["env"]?.string ?? "" }
    /// The names of the app's levels, foundation first.
    public var levels: [String] { json["levels"]?.array?.compactMap(\.string) ?? [] }
    /// The URL schemes that the app opens.
    public var schemes: [String] { json["schemes"]?.array?.compactMap(\.string) ?? [] }
}

extension FrameLimits {
    /// Until hello tells those of the bus.
    static let beforeHello = FrameLimits(frame: 16 << 20, header: 16 << 10)
}
