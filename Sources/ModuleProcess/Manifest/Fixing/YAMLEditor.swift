import StrataCore

/// Adds entries to the collections of a YAML text, each in the style of its collection. All else
/// stays as it is: comments, order, quotes, indentation and blank lines.
struct YAMLEditor {
    /// An entry of a list or a mapping, as it is written in brackets and as lines of its own.
    struct Entry {
        var inline: String
        var lines: [String]

        init(_ inline: String, lines: [String]? = nil) { (self.inline, self.lines) = (inline, lines ?? [inline]) }
    }

    private struct Edit {
        var range: Range<Int>
        var text: String
    }

    private let scalars: [Unicode.Scalar]
    private let newline: String
    private var edits: [Edit] = []

    init(_ bytes: [UInt8]) {
        scalars = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)
        let first = scalars.firstIndex(of: "\n") ?? 0
        newline = first > 0 && scalars[first - 1] == "\r" ? "\r\n" : "\n"
    }

    /// The text with all edits.
    var edited: [UInt8] {
        var result = String.UnicodeScalarView()
        var place = 0
        // Of edits at one place, the first one comes first: inner collections before outer ones.
        let sorted = edits.enumerated().sorted {
            ($0.element.range.lowerBound, $0.offset) < ($1.element.range.lowerBound, $1.offset)
        }
        for edit in sorted.map(\.element) {
            result.append(contentsOf: scalars[place..<max(place, edit.range.lowerBound)])
            result.append(contentsOf: edit.text.unicodeScalars)
            place = max(place, edit.range.upperBound)
        }
        result.append(contentsOf: scalars[place...])
        return Array(String(result).utf8)
    }

    /// Adds entries at the end of a list or a mapping. Call it for inner collections first.
    mutating func add(_ entries: [Entry], to collection: YAMLSpan) {
        let children: [YAMLSpan]
        var mark = ""
        switch collection.content {
        case .sequence(let elements): (children, mark) = (elements, "- ")
        case .mapping(let pairs): children = pairs.map { Self.joined($0.key, $0.value) }
        case .scalar, .alias: return
        }
        guard collection.isFlow else {
            let indent = String(repeating: " ", count: collection.column)
            let rest = indent + String(repeating: " ", count: mark.count)
            let lines = entries.flatMap { entry in
                entry.lines.enumerated().map { $1.isEmpty ? "" : ($0 == 0 ? indent + mark : rest) + $1 }
            }
            return insert(lines.map { newline + $0 }.joined(), at: endOfLine(after: collection.range.upperBound))
        }
        let inline = entries.map(\.inline)
        guard let last = children.last else {
            return insert(inline.joined(separator: ", "), at: collection.range.lowerBound + 1)
        }
        let end = last.range.upperBound
        guard hasOwnLine(last, after: children.dropLast().last ?? collection) else {
            return insert(inline.map { ", " + $0 }.joined(), at: end)
        }
        // Each element is on a line of its own, and perhaps a comment follows the last one.
        let start = newline + String(repeating: " ", count: last.column)
        let lineEnd = endOfLine(after: end)
        let hasComma = comma(after: end) != nil
        if collection.range.upperBound <= lineEnd {
            return insert(inline.map { "," + start + $0 }.joined(), at: end)
        }
        if !hasComma { insert(",", at: end) }
        insert(start + inline.joined(separator: "," + start) + (hasComma ? "," : ""), at: lineEnd)
    }

    /// Whether the line before a node's is blank.
    func hasBlankLine(before node: YAMLSpan) -> Bool {
        var index = node.range.lowerBound
        var newlines = 0
        while index > 0, Self.isBlank(scalars[index - 1]) {
            index -= 1
            if scalars[index] == "\n" { newlines += 1 }
        }
        return newlines > 1
    }

    /// Writes a mapping's entries in place of a value that is empty.
    /// - Parameters:
    ///   - key: The key of the value.
    ///   - step: How far the entries are indented below the key; nil if they are written in braces.
    mutating func fill(_ value: YAMLSpan, of key: YAMLSpan, with entries: [Entry], step: Int?) {
        // Libyaml may see an empty value behind the blanks that follow its colon.
        let colon = value.range.isEmpty ? scalars[key.range.upperBound...].firstIndex(of: ":") : nil
        if let step, let colon {
            let indent = newline + String(repeating: " ", count: key.column + step)
            let lines = entries.flatMap(\.lines).map { indent + $0 }
            return insert(lines.joined(), at: endOfLine(after: colon + 1))
        }
        let text = "{\(entries.map(\.inline).joined(separator: ", "))}"
        if let colon { insert(" \(text)", at: colon + 1) } else { edits.append(Edit(range: value.range, text: text)) }
    }

    private mutating func insert(_ text: String, at place: Int) {
        edits.append(Edit(range: place..<place, text: text))
    }

    private static func joined(_ key: YAMLSpan, _ value: YAMLSpan) -> YAMLSpan {
        var pair = key
        pair.range = key.range.lowerBound..<max(key.range.upperBound, value.range.upperBound)
        return pair
    }

    private func hasOwnLine(_ element: YAMLSpan, after before: YAMLSpan) -> Bool { element.line > before.line }

    /// Returns the end of the line on which the content before a place ends.
    private func endOfLine(after place: Int) -> Int {
        var end = min(place, scalars.count)
        while end > 0, Self.isBlank(scalars[end - 1]) { end -= 1 }
        while end < scalars.count, scalars[end] != "\n", scalars[end] != "\r" { end += 1 }
        return end
    }

    /// Returns the place of the comma that follows an element, behind blanks and comments.
    private func comma(after place: Int) -> Int? {
        var index = place
        while index < scalars.count {
            if scalars[index] == "," { return index }
            if scalars[index] == "#" {
                while index < scalars.count, scalars[index] != "\n" { index += 1 }
            } else if !Self.isBlank(scalars[index]) {
                return nil
            }
            index += 1
        }
        return nil
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || scalar == "\t" || scalar == "\n" || scalar == "\r"
    }
}

extension YAMLEditor {
    /// Writes a string as a scalar: plain if it then means the same anywhere, else in double quotes.
    static func scalar(_ text: String) -> String {
        let isPlain =
            text.utf8.first.map { isLetter($0) || $0 == UInt8(ascii: ".") } == true
            && text.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "._-/@".utf8.contains($0) }
            && YAMLNode(content: .scalar(text, isPlain: true), line: 1, column: 1).scalar == .string(text)
        return isPlain ? text : JSON.string(text).description
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || (byte | 0x20) &- UInt8(ascii: "a") < 26
    }
}
