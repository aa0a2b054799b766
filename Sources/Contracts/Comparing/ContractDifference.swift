internal import StrataContracts
internal import StrataCore

/// Compares two documents, part by part.
struct ContractDifference {
    private let old: Contract
    private let new: Contract
    private var schemas: SchemaDifference

    init(_ old: Contract, _ new: Contract) {
        (self.old, self.new) = (old, new)
        schemas = SchemaDifference(
            SchemaGraph(old.definitions, new.definitions), ContractComparison(from: old.version, to: new.version))
    }

    /// What was found.
    var comparison: ContractComparison {
        guard schemas.relation.hasGivenUp else { return schemas.comparison }
        var comparison = schemas.comparison
        comparison.add(.breaking, .root, "compared in part", "too large or too deep to be compared as a whole")
        return comparison
    }

    mutating func compareDocuments() {
        compareSubjects()
        if old.hasInstances != new.hasInstances {
            add(
                .breaking, .root.member("instances"), old.hasInstances ? "multiple" : "single",
                new.hasInstances ? "multiple" : "single")
        }
        compareActions(listsAdded: true)
        compareProperties(listsAdded: true)
        let isModule = if case .module = new.subject { true } else { false }
        compareNotices("broadcasts", old.broadcasts, new.broadcasts, .output, also: new.broadcastsOfProperties)
        // The owner of an interface receives its reports; a module's are those that it sends.
        compareNotices("reports", old.reports, new.reports, isModule ? .output : .input)
        compareNotices("observes", old.observes, new.observes, .input, isNeeded: false)
        compare(
            old.settings.map { Schema(.object($0)) }, new.settings.map { Schema(.object($0)) }, .input,
            .root.member("settings"))
    }

    mutating func compareSubjects() {
        guard old.subject != new.subject else { return }
        add(.breaking, .root, old.subject.words, new.subject.words)
    }

    // MARK: Actions

    mutating func compareActions(listsAdded: Bool) {
        let path = ValuePath.root.member("actions")
        // An action that has become one of a property is still there.
        let after = Dictionary((new.actions + new.actionsOfProperties).map { (ExactName($0.name), $0) }) { first, _ in
            first
        }
        for action in old.actions {
            let place = path.member(action.name)
            guard let other = after[ExactName(action.name)] else {
                add(.breaking, place, "an action", "absent")
                continue
            }
            compare(action, other, place)
        }
        guard listsAdded else { return }
        let before = Set(old.actions.map { ExactName($0.name) })
        for action in new.actions where !before.contains(ExactName(action.name)) {
            add(.compatible, path.member(action.name), "absent", "an action")
        }
    }

    private mutating func compare(_ old: Contract.Action, _ new: Contract.Action, _ path: ValuePath) {
        compareDeprecation(old.isDeprecated, new.isDeprecated, path)
        compareAuthorization(old.needsAuthorization, new.needsAuthorization, path)
        compare(old.params, new.params, .input, path.member("params"))
        switch (old.result, new.result) {
        case (.reply(let before), .reply(let after)): compare(before, after, .output, path.member("reply"))
        case (.elements(let before), .elements(let after)):
            compare(before?.ifKnown, after?.ifKnown, .output, path.member("element"))
        case (.reply, .elements): add(.breaking, path, "one reply", "a stream")
        case (.elements, .reply): add(.breaking, path, "a stream", "one reply")
        }
        compareDescriptors(old.descriptors, new.descriptors, path.member("descriptors"))
        compareErrors(old.errors, new.errors, path)
    }

    /// Callers send as many as the old contract takes, and take as many as it gives.
    private mutating func compareDescriptors(_ old: DescriptorCounts, _ new: DescriptorCounts, _ path: ValuePath) {
        for (name, before, after, isBreaking) in [
            ("params", old.params, new.params, new.params < old.params),
            ("reply", old.reply, new.reply, new.reply > old.reply),
        ] where before != after {
            add(isBreaking ? .breaking : .compatible, path.member(name), "\(before)", "\(after)")
        }
    }

    private mutating func compareErrors(_ old: [Contract.Problem], _ new: [Contract.Problem], _ path: ValuePath) {
        let (before, after) = (Set(old.map(\.code)), Set(new.map(\.code)))
        for problem in old where !after.contains(problem.code) {
            add(.compatible, path.member("errors").member(problem.code), "an error", "absent")
        }
        for problem in new where !before.contains(problem.code) {
            add(.compatible, path.member("errors").member(problem.code), "absent", "an error")
        }
    }

    private mutating func compareAuthorization(_ old: Bool?, _ new: Bool?, _ path: ValuePath) {
        guard old != new else { return }
        add(old == false && new == true ? .breaking : .compatible, path.member("auth"), words(old), words(new))
    }

    private func words(_ needsAuthorization: Bool?) -> String {
        needsAuthorization.map { Words.isIt($0, "authorized") } ?? "unknown"
    }

    // MARK: Properties

    mutating func compareProperties(listsAdded: Bool) {
        let path = ValuePath.root.member("properties")
        let after = Dictionary(new.properties.map { (ExactName($0.name), $0) }) { first, _ in first }
        for property in old.properties {
            let place = path.member(property.name)
            guard let other = after[ExactName(property.name)] else {
                add(.breaking, place, "a property", "absent")
                continue
            }
            compare(property, other, place)
        }
        guard listsAdded else { return }
        let before = Set(old.properties.map { ExactName($0.name) })
        for property in new.properties where !before.contains(ExactName(property.name)) {
            add(.compatible, path.member(property.name), "absent", "a property")
        }
    }

    /// The owner sends a value to readers. If callers may set it, they send one to the owner, too.
    private mutating func compare(_ old: Contract.Property, _ new: Contract.Property, _ path: ValuePath) {
        compareDeprecation(old.isDeprecated, new.isDeprecated, path)
        if old.isSettable != new.isSettable {
            add(
                old.isSettable ? .breaking : .compatible, path.member("settable"),
                Words.isIt(old.isSettable, "settable"), Words.isIt(new.isSettable, "settable"))
        }
        compare(old.value, new.value, .output, path.member("value"))
        guard old.isSettable, new.isSettable else { return }
        compareAuthorization(old.needsAuthorization, new.needsAuthorization, path)
        compare(old.value, new.value, .input, path.member("set"))
        compareErrors(old.errors, new.errors, path)
    }

    // MARK: Notifications

    /// - Parameters:
    ///   - isNeeded: whether somebody misses a notification that is gone.
    ///   - others: what the new contract has besides, and doesn't list as such.
    private mutating func compareNotices(
        _ kind: String, _ old: [Contract.Notice], _ new: [Contract.Notice], _ direction: SchemaDifference.Direction,
        isNeeded: Bool = true, also others: [Contract.Notice] = []
    ) {
        let path = ValuePath.root.member(kind)
        let after = Dictionary((new + others).map { (ExactName($0.name), $0) }) { first, _ in first }
        for notice in old {
            let place = path.member(notice.name)
            guard let other = after[ExactName(notice.name)] else {
                add(isNeeded ? .breaking : .compatible, place, "a notification", "absent")
                continue
            }
            compareDeprecation(notice.isDeprecated, other.isDeprecated, place)
            compare(notice.content, other.content, direction, place.member("content"))
        }
        let before = Set(old.map { ExactName($0.name) })
        for notice in new where !before.contains(ExactName(notice.name)) {
            add(.compatible, path.member(notice.name), "absent", "a notification")
        }
    }

    // MARK: Pieces

    /// Compares two schemas. One that isn't known may be as it was.
    mutating func compare(
        _ old: Schema?, _ new: Schema?, _ direction: SchemaDifference.Direction, _ path: ValuePath
    ) {
        guard let old, let new else {
            guard let known = old ?? new else { return }
            let words = SchemaWords.words(known)
            return add(.compatible, path, old == nil ? "unknown" : words, new == nil ? "unknown" : words)
        }
        let before = schemas.relation.graph.add(old, of: 0)
        let after = schemas.relation.graph.add(new, of: 1)
        schemas.compare(before, after, direction, path)
    }

    private mutating func compareDeprecation(_ old: Bool, _ new: Bool, _ path: ValuePath) {
        guard old != new else { return }
        add(.compatible, path, Words.isIt(old, "deprecated"), Words.isIt(new, "deprecated"))
    }

    private mutating func add(_ kind: ContractChange.Kind, _ path: ValuePath, _ old: String, _ new: String) {
        schemas.comparison.add(kind, path, old, new)
    }
}

extension Schema {
    /// The schema, unless it is `{}`: a stream of an unknown type is written so.
    fileprivate var ifKnown: Schema? { self == Schema(.any) ? nil : self }
}
