/// The kinds of URLs that simulated peers open, and what section 9 makes of them.
enum SimulatedURL: CaseIterable, Equatable {
    /// One segment, which a bound one and a rest match.
    case bound
    /// More segments, which only the rest matches.
    case rest
    /// A host that no module maps.
    case anyHost
    /// A mapped host, none of whose patterns matches.
    case leftOver

    /// Returns the URL of a module's request.
    func text(_ owner: Int, _ number: Int) -> String {
        switch self {
        case .bound: "sim://h\(owner)/x/\(number)"
        case .rest: "sim://h\(owner)/x/\(number)/%41/"
        case .anyHost: "sim://else/\(SimulatedApp.name(owner))/\(number)/%41?n=1"
        case .leftOver: "sim://h\(owner)/\(SimulatedApp.name(owner))/\(number)"
        }
    }

    /// The action that it leads to: a literal segment beats a bound one, that beats a rest, and the
    /// host `*` comes last.
    var action: String { self == .bound ? "a" : "c" }

    /// Returns the body of the call: the rest as it was sent, without a trailing slash.
    func body(_ number: Int) -> String {
        switch self {
        case .bound, .leftOver: #"{"n":"\#(number)"}"#
        case .rest, .anyHost: #"{"n":"\#(number)/%41"}"#
        }
    }
}
