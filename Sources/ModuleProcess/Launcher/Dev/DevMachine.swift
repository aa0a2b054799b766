/// The order of what `strata dev` does about changes: it reads the manifest, builds, and then changes the app. One
/// step is under way at a time; what changes meanwhile comes after it.
///
/// A manifest with errors and a failed build leave a running app as it is. Without one, the next change tries again.
struct DevMachine {
    /// What has changed.
    struct Changes: Equatable {
        var manifest = false
        var sources = false
        /// The rows that run changed scripts.
        var rows: Set<String> = []

        var isEmpty: Bool { self == Changes() }

        mutating func add(_ other: Changes) {
            manifest = manifest || other.manifest
            sources = sources || other.sources
            rows.formUnion(other.rows)
        }
    }

    enum Order: Equatable {
        case read
        case build
        case start
        case reload
        case restart(Set<String>)
    }

    private enum State { case idle, reading, building }

    private var state = State.idle
    private(set) var isUp = false
    private var hasPackage = false
    private var now = Changes()
    private var later = Changes()

    /// Takes changes; the first ones start the app.
    mutating func changed(_ changes: Changes) -> [Order] {
        later.add(changes)
        guard state == .idle, !later.isEmpty else { return [] }
        (now, later) = (later, Changes())
        if !isUp { (now.manifest, now.sources) = (true, true) }
        guard now.manifest else { return build() }
        state = .reading
        return [.read]
    }

    /// The manifest was read.
    /// - Parameter hasPackage: whether something is to be built.
    mutating func read(ok: Bool, hasPackage: Bool) -> [Order] {
        precondition(state == .reading, "a manifest was read that nobody asked for")
        guard ok else {
            now.manifest = false
            return isUp ? build() : rest()
        }
        self.hasPackage = hasPackage
        return build()
    }

    /// The build has ended.
    /// - Parameter rows: those whose program is another one now.
    mutating func built(ok: Bool, rows: Set<String>) -> [Order] {
        precondition(state == .building, "a build has ended that nobody asked for")
        if ok { now.rows.formUnion(rows) }
        return ok || isUp ? change() : rest()
    }

    /// The app has ended, or couldn't start; the next change starts it.
    mutating func appEnded() { isUp = false }

    private mutating func build() -> [Order] {
        guard now.sources, hasPackage else { return change() }
        state = .building
        return [.build]
    }

    private mutating func change() -> [Order] {
        var orders: [Order] = []
        if isUp {
            if now.manifest { orders.append(.reload) }
            if !now.rows.isEmpty { orders.append(.restart(now.rows)) }
        } else {
            isUp = true
            orders.append(.start)
        }
        return orders + rest()
    }

    private mutating func rest() -> [Order] {
        (state, now) = (.idle, Changes())
        return changed(Changes())
    }
}
