/// The names that someone who wrote `name` may have meant, nearest first, for
/// an error's message.
///
/// Compares without regard to the case of ASCII letters, counting a letter
/// added, left out, replaced, or swapped with its neighbour as one edit. A name
/// may be a third of its length away, three edits at most.
///
/// - Parameter known: Looked at for its first 1,024 names only, so that a
///   mistake in a large app costs the broker no more than one in a small one.
/// - Returns: At most three names, each once; equally near ones in the order
///   of the alphabet.
public func nearestNames(to name: String, in known: some Sequence<String>) -> [String] {
    // No name is as long; a peer may have sent one of any length.
    guard name.utf8.count <= 256 else { return [] }
    let wanted = lowercaseBytes(name)
    let farthest = min(3, max(1, wanted.count / 3))
    var near: [(name: String, distance: Int)] = []
    for candidate in known.prefix(1_024) {
        guard abs(candidate.utf8.count - wanted.count) <= farthest else { continue }
        let distance = editDistance(wanted, lowercaseBytes(candidate))
        if distance <= farthest, !near.contains(where: { $0.name == candidate }) {
            near.append((candidate, distance))
            near.sort { ($0.distance, $0.name) < ($1.distance, $1.name) }
            if near.count > 3 { near.removeLast() }
        }
    }
    return near.map(\.name)
}

private func lowercaseBytes(_ text: String) -> [UInt8] {
    text.utf8.map { $0 &- UInt8(ascii: "A") < 26 ? $0 | 0x20 : $0 }
}

/// The optimal string alignment distance, in bytes.
private func editDistance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    var beforeLast = [Int](repeating: 0, count: b.count + 1)
    var last = Array(0...b.count)
    var row = last
    for i in a.indices {
        row[0] = i + 1
        for j in b.indices {
            let replaced = last[j] + (a[i] == b[j] ? 0 : 1)
            row[j + 1] = min(replaced, last[j + 1] + 1, row[j] + 1)
            if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
                row[j + 1] = min(row[j + 1], beforeLast[j - 1] + 1)
            }
        }
        (beforeLast, last, row) = (last, row, beforeLast)
    }
    return last[b.count]
}
