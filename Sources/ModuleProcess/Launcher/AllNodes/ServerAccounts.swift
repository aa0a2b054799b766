import StrataManifest

/// The part of a nats-server's configuration that keeps each node of an app from speaking, or
/// listening, as another one.
public enum ServerAccounts {
    /// Returns the account of an app, with a user for each node.
    /// - Parameter keys: The public keys, by node. Each is checked by `isPublicKey`.
    static func text(app: String, keys: [(node: String, key: String)]) -> String {
        let users = keys.map { node, key in
            """
                {nkey: \(key), permissions: {publish: ["strata.\(app).*.\(node).>"], subscribe: ["strata.\(app).\(node).>"]}}
            """
        }
        return """
            accounts {
              "\(app)" {
                users: [
            \(users.map { "  \($0)" }.joined(separator: "\n"))
                ]
              }
            }
            """
    }

    /// Returns the account of a manifest's app.
    /// - Parameters:
    ///   - path: The path of the manifest.
    ///   - words: `NODE=KEY` for each of the app's nodes.
    ///   - environment: This process's environment.
    /// - Throws: a `LaunchError` that names what is missing, doubled or wrong.
    public static func text(
        of path: String, _ words: [String], environment: [String: String]
    ) throws(LaunchError) -> String {
        let manifest: Manifest
        do throws(ManifestErrors) { manifest = try Manifest.load(path: path, environment: environment) } catch {
            throw LaunchError(2, error.description)
        }
        let (app, nodes) = (manifest.table.app, manifest.table.nodes.map(\.name))
        guard !nodes.isEmpty else {
            throw LaunchError(2, "\(path): the app \(app) has no nodes, so no server has to know them")
        }
        var keys: [String: String] = [:]
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, nodes.contains(parts[0]) else {
                throw LaunchError(
                    2, "expected NODE=KEY with one of the nodes \(nodes.joined(separator: ", ")); found \(word)")
            }
            guard isPublicKey(parts[1]) else {
                throw LaunchError(
                    2,
                    "expected the public key of \(parts[0]), 56 characters that begin with U, as strata node key "
                        + "prints it; found \(parts[1])")
            }
            guard keys.updateValue(parts[1], forKey: parts[0]) == nil else {
                throw LaunchError(2, "\(parts[0]) has two keys: give one")
            }
        }
        guard Set(keys.values).count == keys.count else {
            throw LaunchError(2, "two nodes have one key: make one for each, since a key says which node speaks")
        }
        let missing = nodes.filter { keys[$0] == nil }
        guard missing.isEmpty else {
            throw LaunchError(
                2,
                "the public key of \(list(missing)) is missing: make it there with strata node key PATH, and add "
                    + missing.map { "\($0)=KEY" }.joined(separator: " "))
        }
        return text(app: app, keys: nodes.map { ($0, keys[$0] ?? "") })
    }

    /// Whether a text looks like the public key of a NATS user: `U`, followed by 55 characters of
    /// base 32. nats-server checks its checksum.
    public static func isPublicKey(_ text: String) -> Bool {
        text.utf8.count == 56 && text.utf8.first == UInt8(ascii: "U")
            && text.utf8.allSatisfy {
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) || (0x32...0x37).contains($0)
            }
    }
}
