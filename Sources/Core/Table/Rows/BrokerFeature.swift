/// What a broker can do beyond the first version 1 of the protocol: the names in the `features` of
/// hello's answer.
public enum BrokerFeature {
    /// Patterns may end in a rest, and the host `*` takes what is left of a scheme.
    public static let restURLs = "rest-urls"
    /// Versions of interfaces in hello and in `requires`, and `bus/contracts`.
    public static let contracts = "contracts"
    /// Hello declares settings, and `module/settings` brings changed ones.
    public static let settings = "settings"
    /// Observations may be of patterns of names.
    public static let patterns = "patterns"
    /// Broadcasts may say `retain`, and modules have `bus/forget`.
    public static let retain = "retain"
    /// Requests may have a `key`, and observations `share`, for rows with replicas.
    public static let replicas = "replicas"
    /// Hello may say that the peer takes descriptors.
    public static let descriptors = "descriptors"
    /// Hello may say that the peer takes bodies in memory files.
    public static let memory = "memory"
    /// Operators' requests may have `node`; only in an app with nodes.
    public static let node = "node"

    /// What this build can do in each app.
    public static let all = [restURLs, contracts, settings, patterns, retain, replicas, descriptors, memory]
}
