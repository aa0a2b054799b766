import Foundation
import Testing

@testable import StrataWeb

@Suite struct AssetTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources/StrataWeb/Page").path

    @Test func eachFileOfThePageIsServed() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder)
        #expect(Set(Assets.files.keys) == Set(names))
        for name in names {
            let data = try #require(FileManager.default.contents(atPath: "\(Self.folder)/\(name)"))
            // Without their bytes in the message.
            let isSame = Assets.files[name] == Array(data)
            #expect(isSame, "\(name)")
        }
    }

    /// The policy forbids code and style in the page, and code from text.
    @Test func thePageNeedsNoInlineCodeAndMakesNoneOfText() throws {
        let forbidden = [
            "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "DOMParser",
        ]
        for (name, bytes) in Assets.files where name.hasSuffix(".js") {
            let text = String(decoding: bytes, as: UTF8.self)
            for word in forbidden { #expect(!text.contains(word), "\(name) uses \(word)") }
        }
        let page = String(decoding: try #require(Assets.files["index.html"]), as: UTF8.self)
        #expect(page.firstMatch(of: /<script(?![^>]*src=)|<style|style="|\son[a-z]+="/) == nil)
    }
}
