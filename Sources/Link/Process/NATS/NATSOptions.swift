internal import CNATS
internal import Glibc
internal import StrataLoop

/// libnats's options for a link.
enum NATSOptions {
    /// The longest attempt to connect to one server, in milliseconds.
    private static let timeout: Int64 = 1_000
    /// Two missed answers of this interval end a connection, in milliseconds.
    private static let ping: Int64 = 1_000
    /// The bytes that are read at once. Pieces have 64 KiB.
    private static let readSize: Int32 = 256 << 10

    /// Makes the options, which the caller destroys.
    /// - Parameter seed: this node's seed in C's form, which lives as long as the connection.
    /// - Throws: if libnats refuses one, such as certificates that it can't read.
    static func make(
        _ configuration: LinkConfiguration, key: NodeKey?, seed: UnsafeMutablePointer<CChar>?
    ) throws(LinkError) -> OpaquePointer {
        var made: OpaquePointer?
        guard natsOptions_Create(&made) == NATS_OK, let options = made else {
            throw LinkError("libnats makes no options: no memory")
        }
        do throws(LinkError) {
            try set(options, configuration, key: key, seed: seed)
        } catch {
            natsOptions_Destroy(options)
            throw error
        }
        return options
    }

    private static func set(
        _ options: OpaquePointer, _ configuration: LinkConfiguration, key: NodeKey?,
        seed: UnsafeMutablePointer<CChar>?
    ) throws(LinkError) {
        func require(_ status: natsStatus, _ what: String) throws(LinkError) {
            guard status == NATS_OK else { throw LinkError("\(what): \(String(cString: natsStatus_GetText(status)))") }
        }
        let urls = configuration.servers.map { strdup($0.url) }
        defer { urls.forEach { free($0) } }
        var pointers = urls.map { UnsafePointer<CChar>($0) }
        try require(natsOptions_SetServers(options, &pointers, Int32(pointers.count)), "libnats refuses the servers")
        natsOptions_SetName(options, "strata-link \(configuration.app)@\(configuration.node)")
        natsOptions_SetSendAsap(options, true)
        natsOptions_SetTimeout(options, timeout)
        natsOptions_SetPingInterval(options, ping)
        natsOptions_SetMaxPingsOut(options, 2)
        natsOptions_SetIOBufSize(options, readSize)
        natsOptions_SetAllowReconnect(options, false)
        // A server may name others, which no manifest names.
        natsOptions_SetIgnoreDiscoveredServers(options, true)
        // Refused publications are told here. Without a handler libnats prints them.
        natsOptions_SetErrorHandler(options, { _, _, _, _ in }, nil)
        if configuration.usesTLS {
            try require(natsOptions_SetSecure(options, true), "libnats has no TLS")
            if let ca = configuration.ca {
                try require(
                    natsOptions_LoadCATrustedCertificates(options, ca), "the certificates \(ca) can't be read")
            }
        }
        if let key, let seed {
            let sign: natsSignatureHandler = { _, signature, length, nonce, seed in
                nats_Sign(seed!.assumingMemoryBound(to: CChar.self), nonce, signature, length)
            }
            try require(natsOptions_SetNKey(options, key.publicKey, sign, seed), "libnats refuses the key")
        }
    }
}
