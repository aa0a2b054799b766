internal import CNATS

/// A user's key pair of NATS (an nkey): an Ed25519 pair, written in base 32 with a prefix and a checksum.
struct NodeKey: Equatable {
    /// The secret half as text, which begins with `SU`.
    let seed: String
    /// The public half as text, which begins with `U`. NATS's configuration names the node by it.
    let publicKey: String

    /// The bytes from which both halves are made.
    static let secretLength = 32
    private static let seedPrefix: UInt8 = 18 << 3
    private static let userPrefix: UInt8 = 20 << 3

    /// Makes a pair.
    /// - Parameter secret: 32 random bytes.
    init(secret: [UInt8]) {
        precondition(secret.count == Self.secretLength, "an nkey is made of 32 bytes")
        // The type of the key takes the five bits that the seed's own prefix leaves, and the next byte.
        let first = Self.seedPrefix | Self.userPrefix >> 5
        let second = (Self.userPrefix & 31) << 3
        seed = Self.encode([first, second] + secret)
        publicKey = Self.encode([Self.userPrefix] + Self.publicHalf(of: secret))
    }

    /// Reads a seed, with white space around it.
    /// - Throws: if it is no user's seed.
    init(seed text: String) throws(LinkError) {
        let trimmed = text.utf8.drop { $0 <= 0x20 }
        let letters = trimmed.prefix { $0 > 0x20 }
        guard trimmed.dropFirst(letters.count).allSatisfy({ $0 <= 0x20 }), let bytes = Base32.decode(letters),
            bytes.count == Self.secretLength + 4
        else { throw LinkError("it doesn't hold one seed of NATS: make one with `strata node key`") }
        let body = Array(bytes.dropLast(2))
        guard Self.checksum(body) == UInt16(bytes[bytes.count - 2]) | UInt16(bytes[bytes.count - 1]) << 8 else {
            throw LinkError("the seed in it is damaged: its checksum is wrong")
        }
        let key = NodeKey(secret: Array(body[2...]))
        guard Array(key.seed.utf8) == Array(letters) else {
            throw LinkError("the seed in it is not a user's, which begins with SU: make one with `strata node key`")
        }
        self = key
    }

    private static func publicHalf(of secret: [UInt8]) -> [UInt8] {
        let pair = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, secret, secret.count)
        precondition(pair != nil, "libcrypto makes a pair of any 32 bytes")
        defer { EVP_PKEY_free(pair) }
        var half = [UInt8](repeating: 0, count: 32)
        var count = half.count
        let status = EVP_PKEY_get_raw_public_key(pair, &half, &count)
        precondition(status == 1 && count == 32, "an Ed25519 pair has a public half of 32 bytes")
        return half
    }

    private static func encode(_ body: [UInt8]) -> String {
        let sum = checksum(body)
        return Base32.encode(body + [UInt8(truncatingIfNeeded: sum), UInt8(truncatingIfNeeded: sum >> 8)])
    }

    /// CRC-16/XMODEM.
    private static func checksum(_ bytes: [UInt8]) -> UInt16 {
        bytes.reduce(0) { sum, byte in
            (0..<8).reduce(sum ^ UInt16(byte) << 8) { sum, _ in sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021 }
        }
    }
}
