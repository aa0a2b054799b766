import HTTPTypes
import Testing

@testable import StrataWeb

/// Who may ask: the rules against other sites' pages and other users.
@Suite struct AccessTests {
    private let rules = AccessRules(address: .anyPort, names: ["app.example"], token: "secret")

    private func refusal(
        _ path: String = "/api/events", host: String? = "localhost:1", method: HTTPRequest.Method = .get,
        _ fields: [HTTPField.Name: String] = [.authorization: "Bearer secret"]
    ) -> Int? {
        var head = HTTPRequest(method: method, scheme: "http", authority: host, path: path)
        for (name, value) in fields { head.headerFields[name] = value }
        do throws(AccessRules.Refusal) {
            try rules.check(head)
            if path != "/" { try rules.checkToken(head) }
            return nil
        } catch {
            return error.status.code
        }
    }

    @Test(arguments: [
        "localhost", "localhost:8080", "127.0.0.1:1", "[::1]:1", "[::1]", "APP.example", "app.example:443",
    ]) func itsOwnNamesAreServed(host: String) {
        #expect(refusal(host: host) == nil)
    }

    @Test(arguments: [
        "evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "", "localhost:x", "10.0.0.1", "[::2]:1",
        "app.example.", "evil.example:localhost",
    ]) func aRebindingNameIsRefusedEvenForThePage(host: String) {
        #expect(refusal("/", host: host) == 421)
        #expect(refusal(host: host) == 421)
    }

    @Test func aRequestWithoutHostIsRefused() { #expect(refusal(host: nil) == 421) }

    @Test(arguments: ["cross-site", "same-site", "Same-Origin", ""]) func anotherSitesPageIsRefused(site: String) {
        #expect(refusal("/", [.secFetchSite: site]) == 403)
        #expect(refusal([.authorization: "Bearer secret", .secFetchSite: site]) == 403)
    }

    private func refusal(_ fields: [HTTPField.Name: String]) -> Int? { refusal("/api/events", fields) }

    @Test func theBrowsersOwnPageIsServed() {
        for site in ["same-origin", "none"] {
            #expect(refusal([.authorization: "Bearer secret", .secFetchSite: site]) == nil)
        }
    }

    @Test(arguments: [nil, "", "Bearer ", "Bearer secre", "Bearer secret2", "bearer secret", "Basic secret", "secret"])
    func theTokenIsNeededWhole(authorization: String?) {
        let fields = authorization.map { [HTTPField.Name.authorization: $0] } ?? [:]
        #expect(refusal(fields) == 401)
    }

    @Test func onlyJSONIsPosted() {
        for type in ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-8", ""] {
            #expect(refusal("/api/call", method: .post, [.authorization: "Bearer secret", .contentType: type]) == 415)
        }
        #expect(
            refusal("/api/call", method: .post, [.authorization: "Bearer secret", .contentType: "application/json"])
                == nil)
    }
}
