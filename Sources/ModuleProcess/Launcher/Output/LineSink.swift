/// Where lines for a person go.
public protocol LineSink: AnyObject {
    /// Takes a line, without its end. Never waits.
    func write(line: [UInt8])
}
