import Testing

@testable import Session

struct SessionTableTests {
    @Test func sessionIsOpenThenSomebodysThenOver() {
        var table = SessionTable(lifetime: 100)
        #expect(table.state(of: "a", at: 0) == .none)
        table.set("a", user: nil, at: 0)
        #expect(table.state(of: "a", at: 99) == .open)
        #expect(table.state(of: "a", at: 100) == .none)
        table.set("a", user: "ada", at: 50)
        #expect(table.state(of: "a", at: 149) == .user("ada"))
        #expect(table.rest(of: "a", at: 149) == 1)
        #expect(table.state(of: "a", at: 150) == .none)
        #expect(table.rest(of: "a", at: 150) == 0)
    }

    @Test func sessionsThatAreOverAreTakenOutOnce() {
        var table = SessionTable(lifetime: 100)
        table.set("a", user: "ada", at: 0)
        table.set("b", user: nil, at: 10)
        #expect(table.nextEnd == 100)
        #expect(table.takeExpired(at: 99).isEmpty)
        #expect(table.takeExpired(at: 100).map(\.token) == ["a"])
        #expect(table.takeExpired(at: 100).isEmpty)
        #expect(table.nextEnd == 110)
        #expect(table.take { token, user in token == "b" && user == nil }.count == 1)
        #expect(table.nextEnd == nil)
    }

    @Test func tableHasAnEnd() {
        var table = SessionTable(lifetime: 100)
        for number in 0..<SessionTable.most {
            #expect(!table.isFull)
            table.set("\(number)", user: nil, at: 0)
        }
        #expect(table.isFull)
    }

    @Test func tokensHave128BitsAndDiffer() {
        let tokens = Set((0..<100).map { _ in Token.make() })
        #expect(tokens.count == 100)
        #expect(tokens.allSatisfy { $0.count == 32 && $0.allSatisfy(\.isHexDigit) })
    }
}
