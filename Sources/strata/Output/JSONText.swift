import StrataCore

/// JSON that is laid out without being parsed into values. So each number and each string stays
/// as it was written.
enum JSONText {
    /// How deeply a body may be nested.
    static let maximumDepth = 512

    /// Returns the value without white space; nil if the bytes are not a JSON value. No bytes
    /// count as null.
    static func compact(_ bytes: [UInt8]) -> [UInt8]? {
        bytes.isEmpty ? Array("null".utf8) : write(bytes, nil, indent: 0) { _ in 0 }
    }

    /// Returns the value of an object's member, without white space; nil if there is none.
    static func member(_ name: StaticString, of object: [UInt8]) -> [UInt8]? {
        write(object, nil, indent: 0) { tape in
            guard tape.entry(0).pointee.kind == .object else { return nil }
            return tape.members(of: 0).first { tape.text($0).elementsEqual("\(name)".utf8) }.map { $0 + 1 }
        }
    }

    /// Returns the value indented and coloured for a terminal; nil if the bytes are not a JSON
    /// value.
    static func pretty(_ bytes: [UInt8], _ painter: Painter, indent: Int = 0) -> String? {
        write(bytes.isEmpty ? Array("null".utf8) : bytes, painter, indent: indent) { _ in 0 }
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// Writes one of the values in the bytes.
    /// - Parameters:
    ///   - painter: nil leaves out all white space.
    ///   - chosen: returns the index of the value; nil for none.
    private static func write(
        _ bytes: [UInt8], _ painter: Painter?, indent: Int, _ chosen: (borrowing JSONTape) -> UInt32?
    ) -> [UInt8]? {
        bytes.withUnsafeBytes { bytes in
            var tape = JSONTape()
            do {
                try tape.scan(bytes, maximumDepth: maximumDepth)
                // Reading all values finds numbers out of range, which the scan accepts.
                _ = try JSON(tape, 0)
            } catch { return nil }
            guard let index = chosen(tape) else { return nil }
            var layout = JSONLayout(painter: painter)
            layout.write(index, of: tape, depth: indent)
            return layout.text
        }
    }
}

/// A JSON value that is being written.
private struct JSONLayout {
    let painter: Painter?
    private(set) var text: [UInt8] = []

    init(painter: Painter?) { self.painter = painter }

    mutating func write(_ index: UInt32, of tape: borrowing JSONTape, depth: Int) {
        let entry = tape.entry(index).pointee
        switch entry.kind {
        case .object: writeAll(in: index, of: tape, depth, "{", "}")
        case .array: writeAll(in: index, of: tape, depth, "[", "]")
        case .string: writeString(tape.text(index), .green)
        case .number: write(tape.text(index), .cyan)
        case .null, .no, .yes: write(tape.text(index), .magenta)
        }
    }

    private mutating func writeAll(
        in container: UInt32, of tape: borrowing JSONTape, _ depth: Int, _ open: String, _ close: String
    ) {
        let (isObject, end) = (tape.entry(container).pointee.kind == .object, tape.entry(container).pointee.next)
        text += open.utf8
        var index = container + 1
        while index < end {
            if index > container + 1 { text += ",".utf8 }
            newLine(depth + 1)
            if isObject {
                writeString(tape.text(index), .blue)
                text += (painter == nil ? ":" : ": ").utf8
                index += 1
            }
            write(index, of: tape, depth: depth + 1)
            index = tape.entry(index).pointee.next
        }
        if end > container + 1 { newLine(depth) }
        text += close.utf8
    }

    private mutating func newLine(_ depth: Int) {
        if painter != nil { text += ("\n" + String(repeating: "  ", count: depth)).utf8 }
    }

    /// - Parameter inner: the text between the quotes.
    private mutating func writeString(_ inner: UnsafeRawBufferPointer, _ colour: Colour) {
        write(UnsafeRawBufferPointer(start: inner.baseAddress.map { $0 - 1 }, count: inner.count + 2), colour)
    }

    private mutating func write(_ piece: UnsafeRawBufferPointer, _ colour: Colour) {
        guard let painter else { return text += piece }
        text += painter.paint(Printable.text(String(decoding: piece, as: UTF8.self)), colour).utf8
    }
}
