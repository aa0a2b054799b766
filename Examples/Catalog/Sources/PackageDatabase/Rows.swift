public import GRDB
public import StorageInterface

// Columns are named as the members of the contract are.
extension Package: FetchableRecord {}
extension PackageSummary: FetchableRecord {}
extension Note: FetchableRecord {}
