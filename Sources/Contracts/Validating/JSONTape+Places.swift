internal import StrataCore

extension JSONTape {
    /// Returns the entry of a member's value; 0 if the object has no such member.
    func value(_ name: String, of object: UInt32) -> UInt32 {
        guard entry(object).pointee.kind == .object else { return 0 }
        var name = name
        return name.withUTF8 { name in
            let name = UnsafeRawBufferPointer(name)
            if entry(object).pointee.isTabled { return findInTable(name, of: object) }
            var index = object + 1
            while index < entry(object).pointee.next {
                if isName(index, name) { return index + 1 }
                index = entry(index + 1).pointee.next
            }
            return 0
        }
    }

    /// Returns the path to a value, or to the value of a name.
    func path(to target: UInt32) -> ValuePath {
        var path = ValuePath.root
        var container: UInt32 = 0
        while container < target {
            let isObject = entry(container).pointee.kind == .object
            var index = container + 1
            var place = 0
            // The value with the target in it is the last one that begins at the target or before it.
            while case let value = isObject ? index + 1 : index, entry(value).pointee.next <= target {
                index = entry(value).pointee.next
                place += 1
            }
            path = isObject ? path.member(string(index)) : path.element(place)
            guard target != index || !isObject else { break }
            container = isObject ? index + 1 : index
        }
        return path
    }

    /// Returns the bytes of a value or a name, with its quotes or brackets.
    func range(of target: UInt32) -> Range<Int> {
        var (position, index) = (0, UInt32(0))
        var (start, depth) = (0, 0)
        while position < bytes.count {
            let first = position
            position += 1
            switch bytes[first] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"), UInt8(ascii: ","),
                UInt8(ascii: ":"):
                continue
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                if index == target { start = first }
                // Within the target, only its brackets count.
                if index >= target { depth += 1 }
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                if depth > 0 { depth -= 1 }
                if depth == 0, index > target { return start..<position }
                continue
            default:
                // Names and single values have their places on the tape.
                let entry = entry(index).pointee
                let quote = entry.kind == .string ? 1 : 0
                position = Int(entry.end) + quote
                if index == target { return first..<position }
            }
            index += 1
        }
        return 0..<bytes.count
    }
}
