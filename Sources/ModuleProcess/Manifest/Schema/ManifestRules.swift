import StrataCore

/// The words and ranges of values, for the reader and for the shapes.
enum ManifestRules {
    static let calls: [AppTable.CallPolicy] = [.any, .layered, .declared]
    static let contracts: [AppTable.Contracts] = [.off, .enforced]
    static let rowContracts: [AppTable.Contracts] = [.off]
    static let start: [AppTable.Start] = [.eager, .async, .onDemand, .manual]
    static let restart: [AppTable.Restart] = [.always, .onFailure, .never]
    static let replace: [AppTable.Replace] = [.wait, .overlap]
    static let keep: [AppTable.Keep] = [.all, .latest]
    static let retained: [AppTable.Retained] = [.session, .app]

    static let guests = 1...1_000_000
    static let memory = 1...1 << 50
    static let files = 1...1 << 30
    static let processes = 1...1 << 22
    static let replicas = 1...ReplicaName.most
    static let window = 64 << 10...32 << 20
    static let nodes = 1...AppTable.Node.most
    static let servers = 1...16
    static let includes = 0...16
}
