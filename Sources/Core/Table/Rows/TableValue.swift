/// A value in a table's JSON, with its path for error messages.
struct TableValue {
    let json: JSON
    let path: String

    func expected(_ what: String) -> AppTableError {
        AppTableError(path: path, message: "expected \(what); found \(json)")
    }

    /// Throws unless this is an object with no members other than these.
    func holds(_ names: [String]) throws(AppTableError) {
        guard let members = json.object else { throw expected("an object") }
        for member in members where !names.contains(member.name) {
            throw AppTableError(path: path, message: "unknown member \(JSON.string(member.name))")
        }
    }

    /// Returns the member if it is present and not null.
    func member(_ name: String) -> TableValue? {
        guard let value = json[name], value != .null else { return nil }
        return TableValue(json: value, path: path.isEmpty ? name : "\(path).\(name)")
    }

    /// Returns a member that must be present.
    func required(_ name: String) throws(AppTableError) -> TableValue {
        guard let value = member(name) else {
            throw AppTableError(path: path, message: "\(name) is missing")
        }
        return value
    }

    /// Reads the member if it is present; otherwise leaves the target alone.
    func read<T>(
        _ name: String, into target: inout T, _ read: (TableValue) throws(AppTableError) -> T
    ) throws(AppTableError) {
        if let value = member(name) { target = try read(value) }
    }

    func string() throws(AppTableError) -> String {
        guard let string = json.string else { throw expected("a string") }
        return string
    }

    func bool() throws(AppTableError) -> Bool {
        guard let bool = json.bool else { throw expected("true or false") }
        return bool
    }

    func integer<T: FixedWidthInteger>() throws(AppTableError) -> T {
        guard let integer = json.integer, let fitting = T(exactly: integer) else {
            throw expected("an integer in \(T.min)...\(T.max)")
        }
        return fitting
    }

    /// Returns an integer that is not negative.
    func count() throws(AppTableError) -> Int {
        guard let integer = json.integer, let count = Int(exactly: integer), count >= 0 else {
            throw expected("an integer that is not negative")
        }
        return count
    }

    func choice<T: RawRepresentable>() throws(AppTableError) -> T where T.RawValue == String {
        guard let string = json.string, let choice = T(rawValue: string) else {
            throw expected("another word")
        }
        return choice
    }

    func list<T>(_ element: (TableValue) throws(AppTableError) -> T) throws(AppTableError) -> [T] {
        guard let elements = json.array else { throw expected("an array") }
        var result: [T] = []
        for (index, json) in elements.enumerated() {
            result.append(try element(TableValue(json: json, path: "\(path)[\(index)]")))
        }
        return result
    }

    /// Returns the elements of a member that is an array; none if it is missing.
    func elements(_ name: String) throws(AppTableError) -> [TableValue] {
        guard let value = member(name) else { return [] }
        return try value.list { (element) throws(AppTableError) in element }
    }

    func strings() throws(AppTableError) -> [String] {
        try list { (value) throws(AppTableError) in try value.string() }
    }
}

extension JSON {
    /// Returns an array of strings.
    public static func strings(_ strings: [String]) -> JSON { .array(strings.map(JSON.string)) }
    static func count(_ count: some BinaryInteger) -> JSON { .integer(Int64(clamping: count)) }
}
