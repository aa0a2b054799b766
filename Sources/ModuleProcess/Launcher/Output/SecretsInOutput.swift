import StrataCore

/// The secrets that a module may write: its row's, and those of before the last reloads, which a
/// process may still have.
struct SecretsInOutput {
    /// The most earlier states of the row that count.
    private static let mostFormer = 8

    private var states: [[AppTable.Secret]]
    private(set) var mask: SecretMask

    init(_ secrets: [AppTable.Secret]) {
        states = [secrets]
        mask = SecretMask(secrets)
    }

    mutating func change(to secrets: [AppTable.Secret]) {
        guard secrets != states.last else { return }
        states = states.suffix(Self.mostFormer) + [secrets]
        mask = SecretMask(states.joined())
    }
}
