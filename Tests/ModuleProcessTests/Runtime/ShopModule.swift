import Strata

/// A module with everything that contracts say.
enum Shop: Interface {
    static let name = "Shop"
    static let version: ContractVersion? = "2.1"
    static let members: [any InterfaceMember.Type] = [Find.self, Watch.self, Sold.self, Empty.self, Close.self]

    struct Item: Codable, Sendable {
        var name: String
        var price: Int?
        private enum CodingKeys: String, CodingKey {
            case name
            case price = "price.cents"
        }
    }

    struct Find: Action {
        static let name = action("find")
        typealias Reply = [Item]
        static let errors: KeyValuePairs = ["Shop.closed": "It opens at nine.", "Shop.busy": ""]
        var text: String
    }

    struct Watch: StreamingAction {
        static let name = action("watch")
        typealias Element = Item
        var most: Int?
    }

    struct Close: Action {
        static let name = action("close")
    }

    struct Sold: Broadcast {
        static let name = "shop.sold"
        var item: Item
    }

    /// Both a broadcast and a report.
    struct Empty: Broadcast, Report {
        static let name = "shop.empty"
        var since: Int
    }
}

enum Desk: Interface {
    static let name = "Desk"
    struct Write: Action {
        static let name = action("write")
        typealias Reply = String
        var text: String
    }
}

enum Bank: Interface {
    static let name = "Bank"
    static let version: ContractVersion? = "1.0"
    static let members: [any InterfaceMember.Type] = [Pay.self]
    struct Pay: Action {
        static let name = action("pay")
        typealias Reply = Bool
        var cents: Int
    }
}

final class ShopModule: Module {
    static let name = "Shop"
    let bus: Bus

    final class DeskObject { init() {} }

    init(bus: Bus) { self.bus = bus }

    func register(_ exports: inout Exports) {
        exports.action(Shop.Find.self) { _ in [] }
        exports.stream(Shop.Watch.self) { _ in AsyncStream { $0.finish() } }
        exports.action(Shop.Close.self, auth: true) { _ in }
        exports.instances(of: Desk.self, make: { _ in DeskObject() }) { actions in
            actions.action(Desk.Write.self) { _, request in request.text }
            actions.action("rub") { _, _ in nil }
        }
        exports.action("Plain/echo") { try $0.params }
        exports.anyAction(of: "Proxy") { $0.body }
        exports.requires(Bank.self)
        exports.requires("Clock")
        exports.broadcasts("shop.opened")
        exports.broadcasts(Shop.Sold.self)
        exports.broadcasts("shop.sold")
        exports.reports(Shop.Empty.self, to: "Bank")
        exports.reports(Shop.Empty.self, to: "Clock")
        exports.observe(Shop.Empty.self) { _ in }
        exports.observe("clock.ticked") { _ in }
    }
}
