import StrataCore
import StrataLoop

/// What one process writes to one of its outputs, made into lines as it comes.
final class ProcessOutput {
    private var splitter = LineSplitter()
    private var reader: OutputReader?
    private let emit: ([UInt8]) -> Void

    /// Takes over the reading end of a pipe.
    init(_ loop: Loop, descriptor: Int32, emit: @escaping ([UInt8]) -> Void) throws(SystemError) {
        self.emit = emit
        // The reader holds the object until the pipe's end, and a descendant of
        // the process may hold that open.
        reader = try OutputReader(
            loop, descriptor: descriptor,
            onBytes: { self.splitter.take($0, emit) },
            onEnd: { self.splitter.finish(emit) })
    }

    /// The process has ended: what it wrote is read to the last byte.
    func processEnded() {
        reader?.drain()
        splitter.finish(emit)
    }

    func close() { reader?.close() }
    var isClosed: Bool { reader?.isClosed ?? true }
}
