extension AppTable.Limits {
    /// The limits as JSON, as hello tells them too.
    public func json() -> JSON {
        [
            "frame": .count(frame), "header": .count(header), "calls": .count(calls), "queue": .count(queue),
            "waiting": .count(waiting), "observations": .count(observations), "interfaces": .count(interfaces),
            "urls": .count(urls), "instances": .count(instances), "connections": .count(connections),
            "unregistered": .count(unregistered), "held": .count(held), "adapted": .count(adapted),
            "total": .count(total),
        ]
    }

    init(_ value: TableValue) throws(AppTableError) {
        self.init()
        try value.holds([
            "frame", "header", "calls", "queue", "waiting", "observations", "interfaces", "urls", "instances",
            "connections", "unregistered", "held", "adapted", "total",
        ])
        try value.read("frame", into: &frame) { (v) throws(AppTableError) in try v.integer() }
        try value.read("header", into: &header) { (v) throws(AppTableError) in try v.integer() }
        try value.read("calls", into: &calls) { (v) throws(AppTableError) in try v.count() }
        try value.read("queue", into: &queue) { (v) throws(AppTableError) in try v.count() }
        try value.read("waiting", into: &waiting) { (v) throws(AppTableError) in try v.count() }
        try value.read("observations", into: &observations) { (v) throws(AppTableError) in try v.count() }
        try value.read("interfaces", into: &interfaces) { (v) throws(AppTableError) in try v.count() }
        try value.read("urls", into: &urls) { (v) throws(AppTableError) in try v.count() }
        try value.read("instances", into: &instances) { (v) throws(AppTableError) in try v.count() }
        try value.read("connections", into: &connections) { (v) throws(AppTableError) in try v.count() }
        try value.read("unregistered", into: &unregistered) { (v) throws(AppTableError) in try v.count() }
        try value.read("held", into: &held) { (v) throws(AppTableError) in try v.count() }
        try value.read("adapted", into: &adapted) { (v) throws(AppTableError) in try v.count() }
        try value.read("total", into: &total) { (v) throws(AppTableError) in try v.count() }
    }
}
