/// Where lines for a person go.
public protocol LineSink: AnyObject {
    /// Takes a line, without its end. Never waits.
    func write(line: [UInt8])

    /// Takes a line of somebody's.
    /// - Parameters:
    ///   - name: the module that it is about; nil: the app.
    ///   - isOutput: the module wrote it.
    ///   - text: the line without its end.
    ///   - line: the text with the name before it, as a terminal shows it.
    func write(of name: String?, isOutput: Bool, _ text: [UInt8], line: @autoclosure () -> [UInt8])

    /// Waits until all is written, and no longer than that.
    func finish(within milliseconds: Int)
}

extension LineSink {
    public func write(of name: String?, isOutput: Bool, _ text: [UInt8], line: @autoclosure () -> [UInt8]) {
        write(line: line())
    }

    public func finish(within milliseconds: Int) {}
}
