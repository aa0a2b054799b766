import Testing

/// What `strata check` finds where modules were built with different contracts. Line 1 is the app's
/// name.
@Suite(.timeLimit(.hang))
struct ContractReviewTests {
    /// Returns a hello's `contracts`, and the parts of the hello that belong to them.
    private func hello(
        _ name: String, provides: String = "", requires: String = "", sends: String = "", observes: String = ""
    ) -> String {
        let own = [
            #""contract":1,"module":"\#(name)""#, sends.isEmpty ? nil : #""broadcasts":{\#(sends)}"#,
            observes.isEmpty ? nil : #""observes":{\#(observes)}"#,
        ].compactMap { $0 }.joined(separator: ",")
        let interfaces = name == "Notes" ? "" : #""interfaces":{"\#(name)":{}},"#
        return interfaces + #""contracts":{"module":{\#(own)},"provides":[\#(provides)],"requires":[\#(requires)]}"#
    }

    private func contract(_ interface: String, _ action: String, params: String, reply: String) -> String {
        """
        {"contract":1,"interface":"\(interface)","actions":{"\(action)":{"params":\(object(params)),
         "reply":\(object(reply))}}}
        """
    }

    /// A schema of an object with one member that must be there.
    private func object(_ member: String, _ type: String = "string") -> String {
        #"{"type":"object","properties":{"\#(member)":{"type":"\#(type)"}},"required":["\#(member)"]}"#
    }

    private let rows = """
        modules:
          Storage: {provides: [Storage], broadcasts: [storage.changed]}
          Notes:
            level: topout
            requires: [Storage]
            observes: [storage.changed]
        """

    @Test func callerOfAnotherContractIsAnErrorWithBothPlaces() throws {
        let reply = "row"
        let provided = hello("Storage", provides: contract("Storage", "load", params: "key", reply: reply))
        let same = hello("Notes", requires: contract("Storage", "load", params: "key", reply: reply))
        let other = hello("Notes", requires: contract("Storage", "load", params: "name", reply: reply))
        #expect(try ReviewedApp(rows, hellos: ["Storage": provided, "Notes": same]).findings == [])
        let found = try ReviewedApp(rows, hellos: ["Storage": provided, "Notes": other]).findings
        #expect(found.count == 1)
        #expect(
            found.first?.hasPrefix(
                "6:16 error modules.Notes.requires[0]: Notes was built with another contract of Storage than Storage has "
            ) == true, "\(found)")
        #expect(found.first?.contains("strata.yaml:3): $.actions.load.params.name: ") == true, "\(found)")
    }

    @Test func actionThatTheProviderDoesNotDescribeIsAnError() throws {
        let provided = hello("Storage", provides: contract("Storage", "load", params: "key", reply: "row"))
        let other = hello("Notes", requires: contract("Storage", "save", params: "key", reply: "row"))
        let found = try ReviewedApp(rows, hellos: ["Storage": provided, "Notes": other]).findings
        #expect(found.count == 1 && found[0].contains("$.actions.save: expected an action, found absent"), "\(found)")
    }

    @Test func descriptorsThatACallerDoesNotExpectAreAnError() throws {
        func contract(_ descriptors: String) -> String {
            #"{"contract":1,"interface":"Storage","actions":{"load":{"descriptors":\#(descriptors)}}}"#
        }
        let provided = hello("Storage", provides: contract(#"{"params":2,"reply":1}"#))
        let same = hello("Notes", requires: contract(#"{"params":1,"reply":1}"#))
        #expect(try ReviewedApp(rows, hellos: ["Storage": provided, "Notes": same]).findings == [])
        let other = hello("Notes", requires: contract("{}"))
        let found = try ReviewedApp(rows, hellos: ["Storage": provided, "Notes": other]).findings
        #expect(found.count == 1, "\(found)")
        #expect(found[0].contains("$.actions.load.descriptors.reply: expected 0, found 1"), "\(found)")
    }

    @Test func membersThatAnAdapterRenamesAreCompared() throws {
        let rows = """
            modules:
              Session: {provides: [Session]}
              Notes: {level: topout, requires: [NoteLogin]}
            adapters:
              NoteLogin:
                to: Session
                actions:
                  writer: {to: who, params: {ticket: token}, result: {writer: user}}
            """
        let session = hello("Session", provides: contract("Session", "who", params: "token", reply: "user"))
        func notes(_ params: String) -> String {
            hello("Notes", requires: contract("NoteLogin", "writer", params: params, reply: "writer"))
        }
        #expect(try ReviewedApp(rows, hellos: ["Session": session, "Notes": notes("ticket")]).findings == [])
        let found = try ReviewedApp(rows, hellos: ["Session": session, "Notes": notes("tiket")]).findings
        #expect(found.count == 1, "\(found)")
        #expect(found[0].hasPrefix("9:7 error adapters.NoteLogin.actions.writer: what Notes ("), "\(found)")
        #expect(found[0].contains("$.actions.writer.params.ticket"), "\(found)")
        #expect(found[0].contains(" isn't what Session (") && found[0].contains("strata.yaml:3)"), "\(found)")
    }

    @Test func contentThatAnObserverDoesNotExpectIsAnErrorAtTheObserver() throws {
        func sends(_ member: String) -> String { #""storage.changed":{"content":\#(object(member))}"# }
        let storage = hello("Storage", sends: sends("part"))
        let good = hello("Notes", observes: sends("part"))
        let bad = hello("Notes", observes: sends("parts"))
        #expect(try ReviewedApp(rows, hellos: ["Storage": storage, "Notes": good]).findings == [])
        let found = try ReviewedApp(rows, hellos: ["Storage": storage, "Notes": bad]).findings
        #expect(found.count == 1, "\(found)")
        #expect(
            found[0].hasPrefix(
                "7:16 error modules.Notes.observes[0]: Notes expects another content of storage.changed"),
            "\(found)")
        #expect(found[0].contains("$.parts"), "\(found)")
    }

    @Test func contractsThatBreakARuleAreAMalformedDescription() {
        #expect(throws: (any Error).self) {
            try ReviewedApp(rows, hellos: ["Storage": #""contracts":{"module":{"contract":2,"module":"Storage"}}"#])
        }
    }
}
