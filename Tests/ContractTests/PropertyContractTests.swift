import StrataComparing
import StrataContracts
import StrataCore
import Testing

/// Properties in contracts: how they are read and written, what follows from them, and which changes
/// of them break callers and observers.
@Suite(.timeLimit(.hang))
struct PropertyContractTests {
    private static func contract(_ members: String) throws -> Contract {
        try Contract(parsing: Array(#"{"contract":1,"interface":"Player","version":"1.0",\#(members)}"#.utf8))
    }

    private static let volume = #"""
        "properties":{"volume":{"description":"In percent.","settable":true,"auth":true,\#
        "value":{"type":"integer","minimum":0},"errors":{"Player.loud":{}}}}
        """#

    @Test(.promise("M.183")) func aPropertyIsWrittenAsItIsRead() throws {
        let contract = try Self.contract(Self.volume)
        #expect(try Contract(parsing: contract.encoded()) == contract)
        let json = try #require(contract.json()["properties"]?["volume"])
        #expect(
            json == [
                "description": "In percent.", "settable": true, "auth": true,
                "value": ["type": "integer", "minimum": 0], "errors": ["Player.loud": [:]],
            ])
    }

    @Test(.promise("M.183", "7.40")) func itsActionsAndItsBroadcastFollowFromIt() throws {
        let contract = try Self.contract(Self.volume)
        #expect(contract.actions.isEmpty && contract.broadcasts.isEmpty)
        let read = try #require(contract.action("volume"))
        #expect(read.result == .reply(contract.property("volume")?.value) && read.needsAuthorization == nil)
        let set = try #require(contract.action("volume.set"))
        #expect(set.needsAuthorization == true && set.errors.map(\.code) == ["Player.loud"])
        let params = try #require(set.params?.json())
        #expect(
            params == [
                "type": "object", "properties": ["value": ["type": "integer", "minimum": 0]], "required": ["value"],
            ])
        #expect(contract.broadcastsOfProperties.map(\.name) == ["Player.volume"])
        let readOnly = try Self.contract(#""properties":{"title":{}}"#)
        #expect(readOnly.action("title") != nil && readOnly.action("title.set") == nil)
    }

    @Test(arguments: [
        (#""properties":{"a b":{}}"#, "$.properties: \"a b\" isn't a property's name"),
        (#""properties":{"a.set":{}}"#, "$.properties: \"a.set\" isn't a property's name"),
        (#""properties":{"a":{"auth":true}}"#, "$.properties.a.auth: auth is of a property that is settable only"),
        (#""properties":{"a":{"errors":{"A.b":{}}}}"#, "$.properties.a.errors: errors is of a property"),
        (#""properties":{"a":{"settable":1}}"#, "$.properties.a.settable: expected true or false"),
        (#""properties":{"a":{"valeu":{}}}"#, "$.properties.a: there is no member \"valeu\": did you mean value?"),
        (##""properties":{"a":{"value":{"$ref":"#/$defs/B"}}}"##, "$.properties.a.value"),
        (#""properties":{"a":{}},"actions":{"a":{}}"#, "$.actions.a: this is an action of the property a"),
        (
            #""properties":{"a":{"settable":true}},"actions":{"a.set":{}}"#,
            "$.actions[\"a.set\"]: this is an action of the property a"
        ),
        (#""properties":{"a":{}},"broadcasts":{"Player.a":{}}"#, "this is the broadcast of the property a"),
    ])
    func whatIsNoPropertyIsRefusedAtItsPlace(members: String, message: String) {
        do {
            _ = try Self.contract(members)
            Issue.record("it was read")
        } catch {
            #expect("\(error)".contains(message), "\(error)")
        }
    }

    @Test func aNameLeavesRoomForTheActionThatSets() throws {
        let longest = String(repeating: "a", count: 60)
        #expect(throws: Never.self) { try Self.contract(#""properties":{"\#(longest)":{"settable":true}}"#) }
        #expect(throws: ContractError.self) { try Self.contract(#""properties":{"\#(longest)a":{}}"#) }
        let module = #"{"contract":1,"module":"Player","properties":{"a":{}}}"#
        #expect(throws: ContractError.self) { try Contract(parsing: Array(module.utf8)) }
    }

    private static let int = #"{"type":"integer"}"#
    private static let number = #"{"type":"number"}"#

    @Test(
        .promise("M.183"),
        arguments: [
            ("{}", "", "breaking $.properties.a: a property → absent"),
            ("", "{}", "compatible $.properties.a: absent → a property"),
            (#"{"settable":true}"#, "{}", "breaking $.properties.a.settable: settable → not settable"),
            ("{}", #"{"settable":true}"#, "compatible $.properties.a.settable: not settable → settable"),
            (
                #"{"value":\#(int)}"#, #"{"value":\#(number)}"#,
                "breaking $.properties.a.value: an integer → a number"
            ),
            (#"{"value":\#(number)}"#, #"{"value":\#(int)}"#, "compatible $.properties.a.value: a number → an integer"),
            // Who sets it may send what is no longer taken.
            (
                #"{"settable":true,"value":\#(number)}"#, #"{"settable":true,"value":\#(int)}"#,
                "compatible $.properties.a.value: a number → an integer; "
                    + "breaking $.properties.a.set: a number → an integer"
            ),
            (
                #"{"settable":true,"auth":false}"#, #"{"settable":true,"auth":true}"#,
                "breaking $.properties.a.auth: not authorized → authorized"
            ),
            (
                #"{"settable":true}"#, #"{"settable":true,"errors":{"A.b":{}}}"#,
                "compatible $.properties.a.errors[\"A.b\"]: absent → an error"
            ),
            ("{}", #"{"deprecated":true}"#, "compatible $.properties.a: not deprecated → deprecated"),
            (#"{"description":"x"}"#, "{}", ""),
        ])
    func changesOfAProperty(old: String, new: String, changes: String) throws {
        func contract(_ property: String) throws -> Contract {
            try Self.contract(#""properties":{\#(property.isEmpty ? "" : "\"a\":\(property)")}"#)
        }
        let comparison = try contract(new).changes(from: contract(old))
        let found = comparison.changes.map { "\($0.kind.rawValue) \($0.path): \($0.old) → \($0.new)" }
        #expect(found.joined(separator: "; ") == changes)
    }

    /// An interface may have had the actions and the broadcast by themselves.
    @Test func actionsThatBecomeAPropertyAreStillThere() throws {
        let old = try Self.contract(
            #"""
            "actions":{"a":{"params":{"type":"object"},"reply":{"type":"integer"}}},\#
            "broadcasts":{"Player.a":{"content":{"type":"integer"}}}
            """#)
        let new = try Self.contract(#""properties":{"a":{"value":{"type":"integer"}}}"#)
        let changes = new.changes(from: old).changes.map(\.description)
        #expect(changes == ["compatible: $.properties.a: absent → a property"])
        #expect(old.changes(from: new).result == .breaking)
    }

    @Test func aCallersContractIsComparedWithTheProvidersProperties() throws {
        let caller = try Self.contract(#""properties":{"a":{"settable":true,"value":\#(Self.int)}}"#)
        #expect(try Self.contract(#""properties":{"b":{}}"#).changes(forCaller: caller).result == .breaking)
        #expect(
            try Self.contract(#""properties":{"a":{"value":\#(Self.int)}}"#).changes(forCaller: caller).result
                == .breaking)
        let more = #""properties":{"a":{"settable":true,"value":\#(Self.int)},"b":{}}"#
        #expect(try Self.contract(more).changes(forCaller: caller).result == .same)
    }
}
