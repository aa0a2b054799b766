extension AppTable.Adapter {
    func json() -> JSON {
        [
            "name": .string(name), "to": .string(to), "actions": .array(actions.map { $0.json() }),
            "notices": .array(notices.map { $0.json() }),
        ]
    }

    init(_ value: TableValue) throws(AppTableError) {
        try value.holds(["name", "to", "actions", "notices"])
        self.init(name: try value.required("name").string(), to: try value.required("to").string())
        try value.read("actions", into: &actions) { (v) throws(AppTableError) in
            try v.list { (action) throws(AppTableError) in try AppTable.AdaptedAction(action) }
        }
        try value.read("notices", into: &notices) { (v) throws(AppTableError) in try v.renames() }
    }
}

extension AppTable.AdaptedAction {
    func json() -> JSON {
        [
            "name": .string(name), "to": .string(to), "params": .array(params.map { $0.json() }),
            "result": .array(result.map { $0.json() }),
        ]
    }

    init(_ value: TableValue) throws(AppTableError) {
        try value.holds(["name", "to", "params", "result"])
        self.init(name: try value.required("name").string(), to: try value.required("to").string())
        try value.read("params", into: &params) { (v) throws(AppTableError) in try v.renames() }
        try value.read("result", into: &result) { (v) throws(AppTableError) in try v.renames() }
    }
}

extension AppTable.Rename {
    func json() -> JSON { ["from": .string(from), "to": .string(to)] }

    init(_ value: TableValue) throws(AppTableError) {
        try value.holds(["from", "to"])
        self.init(from: try value.required("from").string(), to: try value.required("to").string())
    }
}

extension TableValue {
    func renames() throws(AppTableError) -> [AppTable.Rename] {
        try list { (rename) throws(AppTableError) in try AppTable.Rename(rename) }
    }
}
