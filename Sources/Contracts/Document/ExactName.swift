/// A text as a key that is compared byte by byte, as names are in JSON. Swift's own comparison takes
/// `é` and `e` with an accent for the same.
struct ExactName: Hashable, Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (left: Self, right: Self) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
