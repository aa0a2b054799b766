import ArgumentParser
import Glibc
import StrataCore

/// A time as the manifest writes it: an integer with ms, s, m or h, or 0.
struct Milliseconds: ExpressibleByArgument {
    var value: UInt64

    /// The longest deadline that a bus grants: 24 h.
    static let longest: UInt64 = 86_400_000

    var defaultValueDescription: String { value % 1_000 == 0 ? "\(value / 1_000)s" : "\(value)ms" }

    init?(argument: String) {
        if argument == "0" {
            value = 0
            return
        }
        let digits = argument.prefix { ("0"..."9").contains($0) }
        let units: [Substring: UInt64] = ["ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000]
        guard let count = UInt64(digits), let unit = units[argument.dropFirst(digits.count)] else { return nil }
        let (value, overflow) = count.multipliedReportingOverflow(by: unit)
        guard !overflow, value <= Self.longest else { return nil }
        self.value = value
    }
}

/// How long a request may take.
struct TimeoutOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The time limit, of a stream for each reply: an integer with ms, s, m or h, at most 24h. 0 means no "
                + "limit, for streams only.",
            valueName: "time"))
    var timeout: Milliseconds?
}

/// The name of a notification or an event.
enum CheckedName {
    /// Checks a name before it is sent, because the bus ends a connection over a bad one.
    static func read(_ argument: String) throws(Failure) -> String {
        let count = argument.utf8.count
        guard (1...256).contains(count) else {
            throw Failure(.usage, "a name has 1 to 256 bytes; this one has \(count)")
        }
        return argument
    }
}

/// The JSON that a command sends.
enum Params {
    /// Reads params that are one JSON text, `-` for stdin, or members as `KEY=VALUE`. A value that is
    /// no JSON is a text. Other values are sent as they were written.
    static func read(_ words: [String]) throws(Failure) -> [UInt8] {
        guard let first = words.first, words.count > 1 || key(of: first) != nil else { return try read(words.first) }
        var members: [(key: String, value: String)] = []
        for word in words {
            guard let key = key(of: word) else {
                throw Failure(
                    .usage,
                    "\(Printable.line(word)) is not KEY=VALUE: give all params so, or give them as one JSON text in quotes"
                )
            }
            guard !members.contains(where: { $0.key == key }) else {
                throw Failure(.usage, "the params have \(key) twice")
            }
            let text = String(word.dropFirst(key.count + 1))
            let isJSON = (try? JSON(parsing: Array(text.utf8), maximumDepth: JSONText.maximumDepth)) != nil
            members.append((key, isJSON ? text : JSON.string(text).description))
        }
        return Array("{\(members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ","))}".utf8)
    }

    /// Returns the key of `KEY=VALUE`, which begins with a letter or `_`, as no JSON does that has a
    /// `=` behind its first word.
    private static func key(of word: String) -> String? {
        let key = word.prefix { $0 != "=" }
        let isKey = key.utf8.enumerated().allSatisfy { index, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"): index > 0
            default: false
            }
        }
        return !key.isEmpty && key.endIndex < word.endIndex && isKey ? String(key) : nil
    }

    /// Checks the argument, and reads stdin if it is `-`. The bytes are sent unchanged, so that
    /// numbers stay as they were written.
    /// - Returns: the bytes; none if there is no argument, which means null.
    static func read(_ argument: String?) throws(Failure) -> [UInt8] {
        guard let argument else { return [] }
        let bytes = argument == "-" ? try standardInput() : Array(argument.utf8)
        do {
            _ = try JSON(parsing: bytes, maximumDepth: JSONText.maximumDepth)
        } catch {
            let origin = argument == "-" ? "on stdin are" : "are"
            throw Failure(
                .usage,
                "the params \(origin) not JSON, at byte \(error.offset): \(error.message)"
                    + mark(bytes, error.offset..<error.offset + 1))
        }
        return bytes
    }

    /// Reads one value: JSON, a text that is no JSON, or `-` for JSON on stdin.
    static func value(_ argument: String) throws(Failure) -> [UInt8] {
        let isJSON = (try? JSON(parsing: Array(argument.utf8), maximumDepth: JSONText.maximumDepth)) != nil
        guard argument != "-", !isJSON else { return try read(argument) }
        return JSON.string(argument).encoded()
    }

    /// Returns the params with a mark below the part that is wrong, if they are one short line of
    /// ASCII.
    static func mark(_ bytes: [UInt8], _ range: Range<Int>) -> String {
        guard (1...70).contains(bytes.count), bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else { return "" }
        let text = String(decoding: bytes, as: UTF8.self)
        let start = min(range.lowerBound, bytes.count)
        let count = max(min(range.upperBound, bytes.count) - start, 1)
        return "\n  \(text)\n  \(String(repeating: " ", count: start))\(String(repeating: "^", count: count))"
    }

    private static func standardInput() throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(STDIN_FILENO, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count > 0 {
                bytes.append(contentsOf: chunk[..<count])
            } else if errno != EINTR {
                throw Failure(.usage, "the params can't be read from stdin: \(String(cString: strerror(errno)))")
            }
        }
    }
}
