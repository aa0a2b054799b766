import StrataCore

/// The orders for several replicas of a row: to start, stop or restart them, or to have more or fewer of them.
///
/// A restart takes one replica after the other, each when the one before is ready, and ends with the first that fails.
/// The other orders take all at once. A value without I/O.
struct ReplicaOrders {
    struct Order {
        /// The call that is answered in the end.
        let call: UInt64
        let action: String
        let reason: String
        let isBus: Bool
        /// The replicas whose turn has not come yet.
        var next: [String]
        /// The replicas that are under way.
        var open = 0
        var errors: [BusError] = []

        var isOneByOne: Bool { action == "restart" }
    }

    private var orders: [Int: Order] = [:]
    private var nextNumber = 0

    subscript(number: Int) -> Order? { orders[number] }

    /// - Returns: the order's number.
    mutating func begin(_ order: Order) -> Int {
        nextNumber += 1
        orders[nextNumber] = order
        return nextNumber
    }

    /// Takes the next replica whose turn it is; nil if none is.
    mutating func take(of number: Int) -> String? {
        guard let order = orders[number], !order.next.isEmpty, !order.isOneByOne || order.open == 0 else { return nil }
        orders[number]?.open += 1
        return orders[number]?.next.removeFirst()
    }

    /// Notes that a replica has done its part, or has failed.
    /// - Returns: the order, if it is over.
    mutating func partEnded(of number: Int, _ error: BusError?) -> Order? {
        guard var order = orders[number] else { return nil }
        order.open -= 1
        if let error { order.errors.append(error) }
        if error != nil, order.isOneByOne { order.errors += Self.left(order.next) }
        let isOver = order.open == 0 && (order.next.isEmpty || error != nil && order.isOneByOne)
        orders[number] = isOver ? nil : order
        return isOver ? order : nil
    }

    private static func left(_ names: [String]) -> [BusError] {
        names.isEmpty
            ? [] : [BusError(.unavailable, "\(list(names)) \(names.count == 1 ? "was" : "were") not restarted")]
    }

    /// Forgets the orders of a call.
    /// - Returns: their numbers.
    mutating func drop(_ call: UInt64) -> [Int] {
        let dropped = orders.filter { $0.value.call == call }.map(\.key)
        for number in dropped { orders[number] = nil }
        return dropped
    }
}
