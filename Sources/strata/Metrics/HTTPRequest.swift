/// The head of an HTTP/1.1 request, as far as it matters to a server of one document.
struct HTTPRequest {
    /// The most bytes that a head may have.
    static let longest = 8 << 10

    let method: String
    /// The path without the query.
    let path: String
    /// The hosts that the request names: the header `Host`, and the host in a whole URL. A
    /// request of HTTP/1.0 may have neither.
    let hosts: [String]

    /// The result of reading a request's bytes.
    enum Reading {
        case unfinished
        case malformed
        case tooLong
        case request(HTTPRequest)
    }

    /// Reads the bytes that have arrived so far.
    static func read(_ bytes: [UInt8]) -> Reading {
        guard let lines = head(bytes) else { return bytes.count > longest ? .tooLong : .unfinished }
        guard lines.reduce(0, { $0 + $1.count + 2 }) <= longest else { return .tooLong }
        guard let first = lines.first, let request = HTTPRequest(line: first, headers: lines.dropFirst()) else {
            return .malformed
        }
        return .request(request)
    }

    /// Returns the lines before the empty line, without their ends; nil if the empty line hasn't
    /// arrived. A line may end with a line feed alone, as people type it.
    private static func head(_ bytes: [UInt8]) -> [ArraySlice<UInt8>]? {
        var lines: [ArraySlice<UInt8>] = []
        var start = 0
        while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
            var line = bytes[start..<end]
            if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
            if line.isEmpty, !lines.isEmpty { return lines }
            // Skip empty lines before a request.
            if !line.isEmpty { lines.append(line) }
            start = end + 1
        }
        return nil
    }

    private init?(line: ArraySlice<UInt8>, headers: ArraySlice<ArraySlice<UInt8>>) {
        let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, Self.isToken(words[0]), words[1].allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        let version = String(decoding: words[2], as: UTF8.self)
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else { return nil }
        var hosts: [String] = []
        for header in headers {
            guard let colon = header.firstIndex(of: UInt8(ascii: ":")), Self.isToken(header[..<colon]) else {
                return nil
            }
            if String(decoding: header[..<colon], as: UTF8.self).lowercased() == "host" {
                hosts.append(Self.trimmed(header[header.index(after: colon)...]))
            }
        }
        guard hosts.count == 1 || (hosts.isEmpty && version == "HTTP/1.0") else { return nil }
        guard let (host, path) = Self.parts(String(decoding: words[1], as: UTF8.self)) else { return nil }
        method = String(decoding: words[0], as: UTF8.self)
        self.path = path
        self.hosts = hosts + (host.map { [$0] } ?? [])
    }

    /// Splits a target: `/path?query`, or a whole URL, as a proxy gets it.
    private static func parts(_ target: String) -> (host: String?, path: String)? {
        var rest = target[...]
        var host: String?
        if target.lowercased().hasPrefix("http://") {
            rest = rest.dropFirst(7)
            host = String(rest.prefix { $0 != "/" })
            rest = rest.drop { $0 != "/" }
            if rest.isEmpty { rest = "/" }
        }
        guard rest.hasPrefix("/") || rest == "*" else { return nil }
        return (host, String(rest.prefix { $0 != "?" }))
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let rest = bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        return String(decoding: Array(rest), as: UTF8.self)
    }

    private static func isToken(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.isEmpty
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}
