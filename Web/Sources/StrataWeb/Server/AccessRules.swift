import HTTPTypes
import Hummingbird

/// Who may ask: the rules that keep other web pages and other users of the machine out.
///
/// A page of another site can make a browser send requests here (CSRF), and can let its own name lead
/// here (DNS rebinding). It can't choose `Host` or `Sec-Fetch-Site`, nor read the token.
struct AccessRules: Sendable {
    /// The names, without ports, that a request may give as its host.
    let hosts: Set<String>
    /// The token of the page; nil for a server of metrics alone, which has nothing to protect.
    let token: String?
    /// Whether the server listens on all addresses of this machine, so that each of them is its name.
    private let isEverywhere: Bool

    /// - Parameters:
    ///   - address: where the server listens.
    ///   - names: the further names that a proxy passes on.
    init(address: ListenAddress, names: [String], token: String?) {
        var hosts: Set<String> = ["localhost", "127.0.0.1", "[::1]"]
        if let host = address.hostName { hosts.insert(host) }
        self.hosts = hosts.union(names.map { $0.lowercased() })
        self.token = token
        isEverywhere = ["0.0.0.0", "[::]"].contains(address.hostName)
    }

    /// A refusal, with the words for the person who asked.
    struct Refusal: Error, Equatable {
        var status: HTTPResponse.Status
        var message: String
    }

    /// Judges any request by its head.
    func check(_ head: HTTPRequest) throws(Refusal) {
        let host = Self.name(of: head.authority ?? "")
        guard hosts.contains(host) || isEverywhere && ListenAddress.isAddress(host) else {
            throw Refusal(
                status: .misdirectedRequest,
                message: "this host isn't served: use localhost, 127.0.0.1, or a name that --host gives")
        }
        if let site = head.headerFields[.secFetchSite], site != "same-origin", site != "none" {
            throw Refusal(status: .forbidden, message: "another site's page can't ask here")
        }
    }

    /// Judges a request for what only the token's owner may see or do.
    func checkToken(_ head: HTTPRequest) throws(Refusal) {
        guard let token, Self.isSame(head.headerFields[.authorization] ?? "", "Bearer \(token)") else {
            throw Refusal(
                status: .unauthorized,
                message: "the token is missing or wrong: open the address that strata web printed")
        }
        if head.method == .post, head.headerFields[.contentType] != "application/json" {
            throw Refusal(status: .unsupportedMediaType, message: "a POST has Content-Type: application/json")
        }
    }

    /// Returns a host without its port, which differs behind `ssh -L` and proxies.
    static func name(of authority: String) -> String {
        let text = authority.lowercased()
        guard let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") else { return text }
        let port = text[text.index(after: colon)...]
        return !port.isEmpty && port.allSatisfy { $0.isASCII && $0.isNumber } ? String(text[..<colon]) : text
    }

    /// Compares without telling by its time how much of the text was right.
    private static func isSame(_ one: String, _ other: String) -> Bool {
        let (one, other) = (Array(one.utf8), Array(other.utf8))
        var difference = one.count ^ other.count
        for index in other.indices { difference |= Int((index < one.count ? one[index] : 0) ^ other[index]) }
        return difference == 0
    }
}

extension HTTPField.Name {
    static let secFetchSite = Self("Sec-Fetch-Site")!  // because it is a valid name
    static let contentSecurityPolicy = Self("Content-Security-Policy")!  // because it is a valid name
    static let referrerPolicy = Self("Referrer-Policy")!  // because it is a valid name
    static let resourcePolicy = Self("Cross-Origin-Resource-Policy")!  // because it is a valid name
    static let openerPolicy = Self("Cross-Origin-Opener-Policy")!  // because it is a valid name
}
