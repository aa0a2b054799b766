public import StrataCore

// What of Core a test's author meets, so that `import StrataTesting` is enough.

/// An app as its broker knows it; see `StrataCore.AppTable`.
public typealias AppTable = StrataCore.AppTable
