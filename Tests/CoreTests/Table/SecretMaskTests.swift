import StrataCore
import Testing
import TestSupport

@Suite(.timeLimit(.hang))
struct SecretMaskTests {
    private func mask(_ secrets: String...) -> SecretMask { SecretMask(secrets.map { AppTable.Secret("key", $0) }) }

    @Test(.promise("M.125")) func eachSecretIsReplacedWhereverItStands() {
        let mask = mask("hunter2", "hunter")
        #expect(mask.masked("hunter2 says hunter, not hunt; hunter22") == "‹secret› says ‹secret›, not hunt; ‹secret›2")
        #expect(mask.masked("no word") == "no word")
        #expect(mask.masked("") == "" && mask.masked("hun") == "hun")
        // The bytes needn't be UTF-8.
        #expect(mask.masked([0xFF] + Array("hunter".utf8) + [0xFE]) == [0xFF] + Array("‹secret›".utf8) + [0xFE])
    }

    @Test(.promise("M.125")) func secretIsFoundAsJSONWritesItAndByItsLines() {
        let mask = mask("say \"pass\"\nthe second line\nshort")
        #expect(mask.masked(#"{"key":"say \"pass\"\nthe second line\nshort"}"#) == #"{"key":"‹secret›"}"#)
        #expect(mask.masked("> the second line") == "> ‹secret›")
        #expect(mask.masked("short") == "short")
        #expect(mask.masked("say \"pass\"\nthe second line\nshort") == "‹secret›")
    }

    @Test(.promise("M.125")) func shortSecretsStandInMostTextsByChance() {
        #expect(mask("the").isEmpty)
        #expect(mask("they").masked("they") == "‹secret›")
        #expect(SecretMask().isEmpty)
    }
}
