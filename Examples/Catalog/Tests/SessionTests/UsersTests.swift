import Strata
import Testing

@testable import Session

// `crypt` has one result for the whole process: one test after another.
@Suite(.serialized)
struct UsersTests {
    private static let text = """
        # name:hash
        ada:$6$catalog$JYJ4xIrFbFmW1RymIvdggj/zYiDZZ3lExpz5GjOwa1v5NP8ArzojpmIaQRmKztXAKbPKCrWl9a.0UhooPafX41

        """

    @Test func thePasswordAloneIsTaken() throws {
        let users = try Users(text: Self.text)
        #expect(users.accept("lovelace", of: "ada"))
        for wrong in ["", "Lovelace", "lovelace ", "lovelace\0x", String(repeating: "x", count: 1_000)] {
            #expect(!users.accept(wrong, of: "ada"))
        }
        #expect(!users.accept("lovelace", of: "grace"))
        #expect(!users.accept("", of: ""))
    }

    @Test func linesThatAreNoUsersAreRefused() {
        for text in ["ada", "ada:lovelace", ":$6$a$b", "ada:*"] {
            #expect(throws: ModuleError.self, "\(text)") { try Users(text: text) }
        }
        #expect(throws: ModuleError.self) { try Users(path: "/nowhere/users") }
    }
}
