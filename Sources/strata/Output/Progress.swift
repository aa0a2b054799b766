import StrataCore
import StrataLoop

/// A line on the terminal that shows what is waited for, once that takes more than a second. It
/// goes to stderr, and only to a terminal.
final class Progress {
    private let timer: LoopTimer
    private var isShown = false

    init(_ loop: Loop, _ activity: String) {
        var seconds = 0
        var show: () -> Void = {}
        timer = LoopTimer(loop) { show() }
        guard StandardError.isTerminal else { return }
        show = { [unowned self] in
            seconds += 1
            isShown = true
            StandardError.raw("\r\u{1B}[K\(Printable.line(activity)) … \(seconds) s")
        }
        timer.start(after: 1_000, every: 1_000)
    }

    /// Removes the line. Does nothing the second time.
    func end() {
        timer.close()
        if isShown { StandardError.raw("\r\u{1B}[K") }
        isShown = false
    }
}
