/// A line that a process of a module wrote.
struct OutputLine {
    /// Which of its outputs: standard output, or standard error.
    enum Stream: String { case out, err }

    /// When the launcher read its end, in microseconds since 1970.
    var at: UInt64
    var stream: Stream
    /// Of the process that the launcher started; a descendant of that may have written it.
    var pid: Int32
    /// 1 for the module's first process, 2 for the next.
    var start: Int
    /// Without the line's end; not always UTF-8.
    var bytes: [UInt8]
}
