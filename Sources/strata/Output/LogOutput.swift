import StrataCore

/// Where modules' lines are shown, over all connections that they come by.
final class LogOutput {
    private let answer: Answer
    private var view: LineView
    private var shown: ShownLines
    /// Why the first line that couldn't be shown wasn't.
    private(set) var failure: Failure?

    /// - Parameter modules: whose names are made equally long.
    init(_ modules: [String], _ answer: Answer) {
        self.answer = answer
        view = LineView(modules, answer.painter)
        shown = ShownLines(since: Int64(clamping: Loop.wallMicroseconds))
    }

    /// All that is there comes again.
    func resume() { shown.resume() }

    /// Shows a partial reply of `launcher/logs`, unless it was shown already.
    func show(_ body: [UInt8]) {
        let entry = try? JSON(parsing: body)
        if let entry, !shown.isNew(entry) { return }
        if answer.isForPrograms {
            do throws(Failure) { try answer.show(body) } catch { failure = failure ?? error }
            return
        }
        guard let entry else { return }
        for line in view.lines(entry) { StandardOutput.write(line: line) }
    }
}
