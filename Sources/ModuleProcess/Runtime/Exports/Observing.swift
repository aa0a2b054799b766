internal import StrataCore

/// One observation of this module's, whichever connection it is declared on.
@ModuleActor
final class Observing {
    let name: String
    let object: String?
    let keep: Keep
    let handle: @ModuleActor (Delivery) async throws -> Void

    init(
        _ name: String, object: String?, keep: Keep, handle: @escaping @ModuleActor (Delivery) async throws -> Void
    ) {
        self.name = name
        self.object = object
        self.keep = keep
        self.handle = handle
    }

    /// As hello and `bus/observe` take it.
    var json: JSON {
        var members = [JSON.Member("name", .string(name))]
        if let object { members.append(JSON.Member("object", .string(object))) }
        if keep != .all { members.append(JSON.Member("keep", .string(keep.rawValue))) }
        return .object(members)
    }
}
