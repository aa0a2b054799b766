import StrataBus

/// A link's connection to its own broker: the link's own, or one that carries the stream of another
/// node.
struct JoinedLine {
    let number: UInt64
    let pipe: MemoryPipe
    /// The length of its hello, before which the stream begins.
    let helloLength: Int
    /// The length of hello's answer, behind which the stream begins.
    private(set) var answerLength = 0
    private(set) var isOpen = false

    /// Makes a connection, and says hello.
    init(_ node: JoinedNode, _ pid: Int32, _ hello: String) {
        let connection = node.connect(pid)
        (number, pipe) = (connection.number, connection.pipe)
        let frame = FrameBytes.frame(Array(#"{"kind":"call","id":1,"to":"bus/hello"}"#.utf8), body: Array(hello.utf8))
        helloLength = frame.count
        pipe.send(frame)
    }

    /// Takes the broker's answer to hello if it has come whole.
    /// - Returns: whether the broker has refused the connection.
    mutating func readAnswer() -> Bool {
        guard !isOpen, pipe.arrived.count >= 8 else { return false }
        let length = 4 + FrameBytes.integer(Array(pipe.arrived.prefix(4)), at: 0)
        guard pipe.arrived.count >= length else { return false }
        var text = ""
        pipe.take(most: length) { text = String(decoding: $0.dropFirst(8), as: UTF8.self) }
        (isOpen, answerLength) = (true, length)
        return !text.hasPrefix(#"{"kind":"reply""#)
    }
}
