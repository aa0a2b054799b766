public import StrataCore

/// What `strata up -- KEY=VALUE…` adds to the manifest's `launchOptions`.
public enum LaunchOptions {
    /// A value that reads as JSON is that; any other is a string: `count=3`
    /// is a number, `name=Ada` and `name="3"` are strings.
    public static func adding(_ words: [String], to options: JSON) throws(LaunchError) -> JSON {
        guard !words.isEmpty else { return options }
        guard var members = options.object else {
            throw LaunchError(2, "the manifest's launchOptions are no mapping, so nothing can be added to them")
        }
        for word in words {
            guard let equals = word.firstIndex(of: "="), equals != word.startIndex else {
                throw LaunchError(2, "expected KEY=VALUE behind --; found \(word)")
            }
            let name = String(word[..<equals])
            let text = String(word[word.index(after: equals)...])
            let value = (try? JSON(parsing: text)) ?? .string(text)
            members.removeAll { $0.name.utf8.elementsEqual(name.utf8) }
            members.append(JSON.Member(name, value))
        }
        return .object(members)
    }
}
