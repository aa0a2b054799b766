internal import StrataCore

/// A search for the members of a written object in its bytes.
enum WrittenMembers {
    struct Member {
        let start: Int
        /// The position after the name's closing quote.
        let nameEnd: Int
        /// The position after the value.
        let end: Int
    }

    /// Returns the members, from the first one's name up to the object's end.
    static func find(_ bytes: UnsafeRawBufferPointer, from start: Int) -> [Member] {
        var members: [Member] = []
        var position = start
        while position < bytes.count, bytes[position] == UInt8(ascii: "\"") {
            let nameEnd = stringEnd(bytes, from: position)
            let end = valueEnd(bytes, from: nameEnd + 1)
            members.append(Member(start: position, nameEnd: nameEnd, end: end))
            position = end
            if position < bytes.count, bytes[position] == UInt8(ascii: ",") { position += 1 }
        }
        return members
    }

    /// Returns the position after the closing quote of the string that begins at `start`.
    static func stringEnd(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var position = start + 1
        while true {
            position = JSONString.plainPrefix(of: bytes, from: position)
            if position >= bytes.count { return bytes.count }
            if bytes[position] == UInt8(ascii: "\"") { return position + 1 }
            position += 2
        }
    }

    private static func valueEnd(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var position = start
        var depth = 0
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position = stringEnd(bytes, from: position)
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return position }
                depth -= 1
            case UInt8(ascii: ","): if depth == 0 { return position }
            default: break
            }
            position += 1
        }
        return position
    }
}

extension WriterState {
    private var written: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    /// Sorts the members of a dictionary, which must be the top scope. Of members with the same
    /// name, only the last is kept.
    func arrangeMembers(ofScopeAt index: Int32) {
        let scope = scopes[Int(index)]
        let members = WrittenMembers.find(written, from: scope.contents)
        guard let arranged = arrange(members, sorted: scope.kind == .dictionary) else { return }
        let starts = replace(members, by: arranged)
        guard scopeCount > index + 1 || !streams.isEmpty else { return }
        // Other scopes and streams that refer to a position among the members are adjusted.
        let moved = Dictionary(uniqueKeysWithValues: zip(arranged.map(\.start), starts))
        func place(_ position: Int) -> Int {
            guard position >= scope.contents,
                let member = members.first(where: { $0.start <= position && position <= $0.end })
            else { return position }
            return moved[member.start].map { $0 + position - member.start } ?? -1
        }
        for inner in (Int(index) + 1)..<Int(scopeCount) {
            if scopes[inner].stream == stream { scopes[inner].end = place(scopes[inner].end) }
            if scopes[inner].startStream == stream { scopes[inner].start = max(place(scopes[inner].start), 0) }
        }
        for number in streams.indices where streams[number].parent == stream && streams[number].position >= 0 {
            streams[number].position = place(streams[number].position)
        }
    }

    /// Returns the members in their new order; nil if that is the current one.
    private func arrange(_ members: [WrittenMembers.Member], sorted: Bool) -> [WrittenMembers.Member]? {
        let bytes = written
        func name(_ index: Int) -> Slice<UnsafeRawBufferPointer> {
            bytes[(members[index].start + 1)..<(members[index].nameEnd - 1)]
        }
        func isLess(_ one: Int, _ other: Int) -> Bool {
            let (first, second) = (name(one), name(other))
            for (byte, against) in zip(first, second) where byte != against { return byte < against }
            return (first.count, one) < (second.count, other)
        }
        if sorted,
            members.indices.dropFirst().allSatisfy({ isLess($0 - 1, $0) && !name($0 - 1).elementsEqual(name($0)) })
        {
            return nil
        }
        let order = members.indices.sorted(by: isLess)
        var kept: [Int] = []
        for (place, index) in order.enumerated() {
            let next = place + 1
            if next == order.count || !name(index).elementsEqual(name(order[next])) { kept.append(index) }
        }
        if !sorted {
            if kept.count == members.count { return nil }
            kept.sort()
        }
        return kept.map { members[$0] }
    }

    /// Overwrites the members in their new order, moves up the bytes after them, and returns the
    /// start of each member.
    @discardableResult
    private func replace(_ members: [WrittenMembers.Member], by arranged: [WrittenMembers.Member]) -> [Int] {
        let (first, end) = (members[0].start, members[members.count - 1].end)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(end - first)
        var starts: [Int] = []
        for member in arranged {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: ",")) }
            starts.append(first + bytes.count)
            bytes.append(contentsOf: written[member.start..<member.end])
        }
        // because there is a member, so there are bytes
        bytes.withUnsafeBufferPointer { (base + first).update(from: $0.baseAddress!, count: $0.count) }
        (base + first + bytes.count).update(from: base + end, count: count - end)
        count -= end - first - bytes.count
        return starts
    }

    /// Keeps only the last of several members with the same name, in all objects.
    func dropRepeatedMembers() {
        var starts: [Int] = []
        var position = 0
        while position < count {
            if base[position] == UInt8(ascii: "\"") {
                position = WrittenMembers.stringEnd(written, from: position)
                continue
            }
            if base[position] == UInt8(ascii: "{") { starts.append(position + 1) }
            position += 1
        }
        // This order handles inner objects first, and moves nothing before them.
        for start in starts.reversed() {
            let members = WrittenMembers.find(written, from: start)
            if let arranged = arrange(members, sorted: false) { replace(members, by: arranged) }
        }
    }
}
