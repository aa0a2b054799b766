public import StrataCore

// What of Core a test's author meets, so that `import StrataTesting` is enough.

/// An app as its broker knows it: `testing` makes one of rows, which `manual` and
/// `eager` make. Its properties have the names of the manifest's keys (`schemes`,
/// `levels`, `calls`, `authorizer`, `guests`, `limits`, …), and so have a row's.
public typealias AppTable = StrataCore.AppTable
