import Foundation
import NIOCore

/// The log of what tabs do: one line each on standard error, with the user whose process asked.
enum ControlLog {
    static func write(_ what: String, _ context: PageContext) {
        let line = "strata-web: \(who(context.remoteAddress)): \(printable(what))\n"
        FileHandle.standardError.write(Data(line.utf8))
    }

    /// Replaces what steers a terminal.
    static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.prefix(512).map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
                        "\u{FFFD}"
                    default: scalar
                    }
                }))
    }

    private static func who(_ address: SocketAddress?) -> String {
        guard let address, let port = address.port else { return "over the Unix socket" }
        let host = address.ipAddress ?? "?"
        guard let user = user(ofPort: port, isV6: host.contains(":")) else { return "\(host):\(port)" }
        return "user \(user) at \(host):\(port)"
    }

    /// Returns the user of the process that has a port of this machine, as the kernel's table of connections
    /// says; nil if the port is another machine's.
    private static func user(ofPort port: Int, isV6: Bool) -> String? {
        guard let text = KernelFile.text(isV6 ? "/proc/net/tcp6" : "/proc/net/tcp") else { return nil }
        let hex = String(port, radix: 16, uppercase: true)
        let suffix = ":" + String(repeating: "0", count: 4 - hex.count) + hex
        for line in text.split(separator: "\n").dropFirst() {
            let fields = line.split(separator: " ")
            // The state 01 is a connection.
            guard fields.count > 7, fields[1].hasSuffix(suffix), fields[3] == "01", let user = UInt32(fields[7]) else {
                continue
            }
            return getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "\(user)"
        }
        return nil
    }
}
