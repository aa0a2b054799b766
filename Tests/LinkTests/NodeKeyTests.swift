import Testing

@testable import StrataLink

/// Keys of NATS.
struct NodeKeyTests {
    @Test func bytesOfEachLengthAreReadAsWritten() {
        for length in 0...40 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 73 &+ length) }
            #expect(Base32.decode(Base32.encode(bytes).utf8) == bytes)
        }
        // RFC 4648, section 10, without its padding.
        #expect(Base32.encode(Array("foobar".utf8)) == "MZXW6YTBOI")
        #expect(Base32.encode(Array("foob".utf8)) == "MZXW6YQ")
        #expect(Base32.decode("MZXW6YR".utf8) == nil, "bits are left over")
        #expect(Base32.decode("MZXW6Y1".utf8) == nil)
    }

    @Test func aKnownSecretGivesTheKeysOfNATS() throws {
        let key = NodeKey(secret: Array(0..<32))
        #expect(key.seed.hasPrefix("SU"))
        #expect(key.publicKey.hasPrefix("U"))
        #expect(key.seed.utf8.count == 58)
        #expect(key.publicKey.utf8.count == 56)
        #expect(try NodeKey(seed: "\(key.seed)\n") == key)
    }

    @Test func damagedSeedsAreRefused() {
        let seed = NodeKey(secret: Array(0..<32)).seed
        let damaged = String(seed.dropLast()) + (seed.hasSuffix("A") ? "B" : "A")
        for text in ["", "SU", damaged, seed.lowercased(), seed + " " + seed, "SA" + seed.dropFirst(2)] {
            #expect(throws: LinkError.self, "\(text)") { try NodeKey(seed: text) }
        }
    }
}
