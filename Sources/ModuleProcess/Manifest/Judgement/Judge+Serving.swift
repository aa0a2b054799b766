import StrataCore

/// What is judged once it is known who serves a call: its list of actions, and
/// authorization.
extension Judge {
    /// Returns whether there may be such an action, under that name.
    func actions(
        _ name: String, _ action: String?, _ hasInstance: Bool, _ owner: AppTable.Row, _ judgement: inout Judgement
    ) -> Bool {
        guard let interface = descriptions[owner.name]?.interface(name) else {
            judgement.add(
                "actions", .depends,
                "which actions \(name) has, \(owner.name)'s program alone knows, and it has not described itself")
            return true
        }
        let listed = (interface.actions ?? []).map(\.name)
        guard let action else {
            judgement.add(
                "actions", .depends,
                listed.isEmpty ? "\(name) lists no actions: all pass" : "\(name) has \(listed.joined(separator: ", "))")
            return true
        }
        guard interface.has(action) else {
            let near = hint(action, listed)
            judgement.refuse(
                "actions", .unknownAction,
                "\(owner.name)'s module has no action \(name)/\(action)"
                    + (near.isEmpty ? "; it has \(listed.isEmpty ? "none" : listed.joined(separator: ", "))" : near))
            return false
        }
        switch (interface.isMultiple, hasInstance) {
        case (true, false):
            judgement.refuse(
                "actions", .unknownInstance, "\(name) has instances: multiple, and the call names none",
                changes: ["create one (bus/create) and call \(name)#NUMBER/\(action)"])
            return false
        case (false, true):
            judgement.refuse(
                "actions", .unknownInstance, "\(name) has instances: single", changes: ["call \(name)/\(action)"])
            return false
        case (true, true):
            judgement.add("actions", .depends, "an instance is its creator's alone, for as long as it lasts")
            return true
        case (false, false):
            judgement.add(
                "actions", .passed,
                interface.actions == nil
                    ? "\(name) lists no actions: all pass" : "\(owner.name)'s module lists \(action)")
            return true
        }
    }

    // MARK: Authorization

    func authorization(
        _ name: String, _ action: String?, _ owner: AppTable.Row, _ caller: AppTable.Row, isOpen: Bool,
        _ judgement: inout Judgement
    ) {
        let authorizer = manifest.table.authorizer
        if name == authorizer {
            judgement.add("authorization", .free, "the authorizer's own interface is never checked", authorizerPlace)
            return
        }
        guard let interface = descriptions[owner.name]?.interface(name) else {
            judgement.add(
                "authorization", .depends, "\(owner.name)'s program alone knows which actions have auth: true")
            return
        }
        let guarded = (interface.actions ?? []).filter(\.needsAuthorization).map(\.name)
        guard action.map(guarded.contains) ?? !guarded.isEmpty else {
            judgement.add(
                "authorization", .free, action.map { "\(name)/\($0) is auth: false" } ?? "no action of it is auth: true"
            )
            return
        }
        let what = action ?? guarded.joined(separator: ", ")
        guard let authorizer else {
            judgement.refuse(
                "authorization", .unauthorized, "\(name)/\(what) has auth: true, and the app has no authorizer",
                changes: ["name an interface that decides in authorizer"])
            return
        }
        let asked = "\(authorizer)/authorize, of \(index.providers[authorizer]?.name ?? "nobody"), is asked each time"
        let skips = caller.trusted && !isOpen ? "; \(caller.name) is trusted, and may say auth: skip" : ""
        judgement.add(
            "authorization", .depends, "\(name)/\(what) has auth: true: \(asked)\(skips)", authorizerPlace)
    }

    private var authorizerPlace: ManifestError { manifest.problem(["authorizer"], "") }
}
