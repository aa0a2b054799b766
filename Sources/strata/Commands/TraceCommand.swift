import ArgumentParser
import StrataCore

/// `strata trace`: shows one trace as a tree, or lists the last ones.
struct TraceCommand: ParsableCommand {
    private static let mostListed = 20

    static let configuration = CommandConfiguration(
        commandName: "trace", abstract: "Shows what a call led to, module by module.",
        discussion: """
            It reads the file to which an app's modules write their spans. Each span is below \
            the one that it was made for. Without a number it lists the last \(mostListed) traces.

            EXAMPLE
              strata up --spans spans.jsonl
              strata call Catalog/search q=editor --trace     prints the trace's number
              strata trace 4ddd747b                           its first digits are enough
              strata trace --spans /var/log/spans.jsonl

            Of a longer file it reads the last 64 MiB.
            """)

    @Argument(help: ArgumentHelp("The trace's number, or its first digits.", valueName: "trace"))
    var trace: String?

    @Option(help: ArgumentHelp("The file that --spans of strata up named.", valueName: "file"), completion: .file())
    var spans = "spans.jsonl"

    @OptionGroup var output: OutputOption

    func validate() throws {
        guard let trace else { return }
        guard (1...32).contains(trace.utf8.count), trace.utf8.allSatisfy(\.isHexDigit) else {
            throw ValidationError("A trace's number has up to 32 digits of 0-9 and a-f; found \(Printable.line(trace))")
        }
    }

    func run() throws {
        let file = try SpanLog(spans)
        if file.unreadable > 0 { StandardError.write("\(spans): \(file.unreadable) lines are no spans") }
        if file.isCut { StandardError.write("\(spans) is longer: only its last 64 MiB were read") }
        let answer = Answer(output)
        let view = TraceView(painter: answer.painter)
        guard let trace = trace?.lowercased() else {
            let last = Array(TraceTree.all(file.spans).prefix(Self.mostListed))
            if answer.isForPrograms { return try answer.showEach(last.map { TraceView.json($0) }) }
            return view.show(last)
        }
        let found = TraceTree.all(file.spans.filter { $0.trace.hasPrefix(trace) })
        guard let tree = found.first else {
            throw Failure(
                .answer,
                "\(spans) has no trace \(trace): it may not be written yet, or the module that began it has no spans")
        }
        guard found.count == 1 else {
            let names = found.prefix(8).map(\.trace).joined(separator: ", ")
            throw Failure(.usage, "\(trace) may be one of \(found.count) traces: \(names); give more digits")
        }
        if answer.isForPrograms { return try answer.showEach(tree.rows.map { TraceView.json($0) }) }
        view.show(tree)
    }
}

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
            || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20)
    }
}
