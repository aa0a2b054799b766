import StrataCore
import Testing

struct SeldomTests {
    @Test func anUnsetValueIsEmptyAndTakesAWord() {
        let owner = Owner()
        #expect(owner.name == nil && owner.$name == nil)
        #expect(MemoryLayout<Seldom<String?>>.size == MemoryLayout<Int>.size)
    }

    @Test func aCopyDoesNotSeeALaterChange() {
        var first = Owner()
        first.name = "one"
        var second = first
        second.name?.append("s")
        #expect(first.name == "one" && second.name == "ones")
        first.name = nil
        // It was set, if only to nothing.
        #expect(first.$name == .some(nil) && second.name == "ones")
    }

    private struct Owner {
        @Seldom var name: String?
    }
}

struct LatestTextTests {
    @Test func eachTextIsThatOfItsOwnBytes() {
        var latest = LatestText()
        for name in ["", "Album", "Album", "Alban", "A name of more than fifteen bytes", "", "Album"] {
            #expect(Array(name.utf8).withUnsafeBytes { latest.text(of: $0) } == name)
        }
    }
}
