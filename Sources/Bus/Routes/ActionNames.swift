/// Numbers for the names of actions, so that each open call can say which one it
/// is of at the cost of storing four bytes. The names are only wanted where a
/// module dies.
///
/// Callers may ask for ever new names of interfaces that list no actions: when
/// `isFull`, whoever knows the open calls lets all others' names go (`keep`).
struct ActionNames {
    /// So many names are kept before those of ended calls are let go.
    static let fewest = 8_192
    /// The number of what is no action.
    static let none: UInt32 = 0

    /// By number, which is one more than the place; empty where it is free.
    private var names: [String] = []
    private var numbers: [String: UInt32] = [:]
    private var free: [UInt32] = []
    private var most = fewest

    var isFull: Bool { numbers.count >= most }

    /// - Parameter name: `Interface/action`.
    mutating func number(of name: String) -> UInt32 {
        if let known = numbers[name] { return known }
        let number: UInt32
        if let again = free.popLast() {
            number = again
            names[Int(again) - 1] = name
        } else {
            names.append(name)
            number = UInt32(names.count)
        }
        numbers[name] = number
        return number
    }

    /// Nil for `none`, and for a number that was let go.
    func name(_ number: UInt32) -> String? {
        guard number != Self.none, number <= names.count else { return nil }
        let name = names[Int(number) - 1]
        return name.isEmpty ? nil : name
    }

    /// Lets all other names go; their numbers are used again. The next time comes
    /// when as many more have come as are kept, so that it stays rare.
    mutating func keep(_ used: Set<UInt32>) {
        for (name, number) in numbers where !used.contains(number) {
            numbers[name] = nil
            names[Int(number) - 1] = ""
            free.append(number)
        }
        most = max(Self.fewest, 2 * numbers.count)
    }
}
