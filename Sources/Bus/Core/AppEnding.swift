/// How far the app's end is: one group of modules after another tears down.
struct AppEnding {
    enum Stage { case running, tearingDown, goodbye, stopped }

    private(set) var stage = Stage.running
    /// The groups that are still to be torn down, in order.
    private var groups: [[ModuleRecord]] = []
    /// The tearDowns of the present group that are open.
    private var openTearDowns = 0

    mutating func begin(_ groups: [[ModuleRecord]]) {
        stage = .tearingDown
        self.groups = groups
    }

    /// The group whose turn it is; nil where all have torn down.
    mutating func takeGroup() -> [ModuleRecord]? { groups.isEmpty ? nil : groups.removeFirst() }

    /// So many of the group were asked to tear down.
    mutating func opened(_ tearDowns: Int) { openTearDowns = tearDowns }

    /// One of the group has torn down, or is gone.
    /// - Returns: whether it was the last.
    mutating func tornDown() -> Bool {
        openTearDowns -= 1
        return openTearDowns == 0
    }

    mutating func sayGoodbye() { stage = .goodbye }

    mutating func stop() { stage = .stopped }
}
