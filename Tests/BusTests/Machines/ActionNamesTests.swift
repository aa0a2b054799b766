import Testing

@testable import StrataBus

@Suite(.timeLimit(.hang))
struct ActionNamesTests {
    @Test func aNameHasOneNumberAndTheNumberItsName() {
        var names = ActionNames()
        let (one, two, again) = (names.number(of: "A/x"), names.number(of: "A/y"), names.number(of: "A/x"))
        #expect(one != two && one != ActionNames.none)
        #expect(again == one)
        #expect(names.name(one) == "A/x" && names.name(two) == "A/y")
        #expect(names.name(ActionNames.none) == nil && names.name(9) == nil)
    }

    @Test func onlyWhatIsUsedIsKeptAndNumbersComeAgain() {
        var names = ActionNames()
        let numbers = (0..<ActionNames.fewest).map { names.number(of: "A/a\($0)") }
        #expect(names.isFull)
        names.keep([numbers[7]])
        #expect(!names.isFull)
        #expect(names.name(numbers[7]) == "A/a7" && names.name(numbers[8]) == nil)
        let (new, known) = (names.number(of: "A/new"), names.number(of: "A/a7"))
        #expect(numbers.contains(new) && new != known)
        #expect(known == numbers[7])
    }

    @Test func theBoundGrowsIfAllNamesAreUsed() {
        var names = ActionNames()
        let numbers = (0..<ActionNames.fewest).map { names.number(of: "A/a\($0)") }
        names.keep(Set(numbers))
        #expect(!names.isFull)
        for number in 0..<ActionNames.fewest { _ = names.number(of: "A/b\(number)") }
        #expect(names.isFull)
    }
}
