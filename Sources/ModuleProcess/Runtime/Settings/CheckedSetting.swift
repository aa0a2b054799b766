internal import StrataContracts
internal import StrataCore

/// A declared setting, whose values can be checked.
struct CheckedSetting {
    let name: String
    let isSecret: Bool
    let defaultValue: JSON?
    /// Checks an object that has this setting only.
    private let checker: SchemaChecker

    init(_ setting: Schema.Property, _ contract: Contract) {
        name = setting.name
        isSecret = setting.schema.isSecret
        defaultValue = setting.schema.defaultValue
        checker = contract.checker(for: Schema(.object(.init([setting]))))
    }

    /// Returns why the setting doesn't take a value, and where to set it; nil if it does.
    func problem(with value: JSON?) -> String? {
        switch checker.check(.object(value.map { [JSON.Member(name, $0)] } ?? [])) {
        case .allowed: nil
        case .refused(let mismatch) where isSecret && value != nil:
            problem(saying: "expected \(mismatch.expected), found another value")
        case .refused(let mismatch): problem(saying: "\(mismatch)")
        case .undecided(let reason): problem(saying: reason)
        }
    }

    /// - Parameter sentence: what is wrong, which may begin with the place in the object of settings.
    func problem(saying sentence: String) -> String {
        let place = ValuePath.root.member(name).description
        let rest = sentence.hasPrefix(place) ? String(sentence.dropFirst(place.count)) : ": \(sentence)"
        let variable = "STRATA_SET_" + name.replacing(".", with: "__")
        return "the setting \(name)\(rest): "
            + (isSecret
                ? "give it in the row's secrets, from a file or a variable"
                : "set it in the manifest's settings, in settings.d or by \(variable)")
    }
}
