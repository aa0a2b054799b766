import ArgumentParser
import StrataOperator

/// Whether a request begins a trace.
struct TraceOption: ParsableArguments {
    @Flag(help: "Begins a trace, and says its number on standard error.")
    var trace = false

    /// Gives a request a trace of its own, where that was asked for.
    func begin(_ request: inout Request) {
        guard trace else { return }
        let trace = Self.hex(.random(in: 1 ... .max)) + Self.hex(.random(in: 0 ... .max))
        // As the W3C's Trace Context has it: version, trace, span, and that it is wanted.
        request.members.append(("trace", "00-\(trace)-\(Self.hex(.random(in: 1 ... .max)))-01"))
        StandardError.write("trace \(trace)")
    }

    private static func hex(_ value: UInt64) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: 16 - text.utf8.count) + text
    }
}
