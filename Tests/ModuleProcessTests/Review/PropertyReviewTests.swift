import Testing

/// What `strata check` finds of properties. Line 1 is the app's name.
@Suite(.timeLimit(.hang))
struct PropertyReviewTests {
    private static func contract(_ property: String) -> String {
        #"{"contract":1,"interface":"Lamp","properties":{"brightness":\#(property)}}"#
    }

    private static let lamp = #"""
        "interfaces":{"Lamp":{"actions":{"brightness":{},"brightness.set":{}}}},"broadcasts":["Lamp.brightness"],\#
        "contracts":{"module":{"contract":1,"module":"Lamp","broadcasts":{"Lamp.brightness":{"content":{\#
        "type":"integer"}}}},"provides":[\#(contract(#"{"settable":true,"value":{"type":"integer"}}"#))],"requires":[]}
        """#

    private static func watcher(_ property: String, content: String = "integer") -> String {
        #"""
        "requires":["Lamp"],"observes":["Lamp.brightness"],"contracts":{"module":{"contract":1,"module":"Watcher",\#
        "observes":{"Lamp.brightness":{"content":{"type":"\#(content)"}}}},"provides":[],\#
        "requires":[\#(contract(property))]}
        """#
    }

    private func findings(_ broadcasts: String = "broadcasts: [Lamp.brightness]", watcher: String) throws -> [String] {
        let text = """
            calls: declared
            modules:
              Lamp: {provides: [Lamp], \(broadcasts)}
              Watcher: {level: topout, requires: [Lamp], observes: [Lamp.brightness]}
            """
        return try ReviewedApp(text, hellos: ["Lamp": Self.lamp, "Watcher": watcher]).findings
    }

    private static let settable = #"{"settable":true,"value":{"type":"integer"}}"#

    @Test func aPropertyThatBothKnowAlikeHasNoFindings() throws {
        #expect(try findings(watcher: Self.watcher(Self.settable)) == [])
    }

    @Test(.promise("M.183")) func aRowThatDoesntDeclareItsBroadcastIsFound() throws {
        let found = try findings("broadcasts: []", watcher: Self.watcher(Self.settable))
        #expect(
            found.contains {
                $0.contains(
                    "the module declares Lamp.brightness, and under calls: declared its row must too: add it")
            }, "\(found)")
    }

    @Test(.promise("M.183")) func aCallerOrAnObserverOfAnotherTypeIsFound() throws {
        let caller = try findings(watcher: Self.watcher(#"{"settable":true,"value":{"type":"string"}}"#))
        #expect(caller.count == 1 && caller[0].contains("$.properties.brightness.value"), "\(caller)")
        let observer = try findings(watcher: Self.watcher(Self.settable, content: "string"))
        #expect(observer.count == 1, "\(observer)")
        #expect(observer.first?.contains("expects another content of Lamp.brightness") == true, "\(observer)")
    }

    @Test func aPropertyThatNobodyObservesIsNoAdvice() throws {
        let text = """
            modules:
              Lamp: {provides: [Lamp], broadcasts: [Lamp.brightness, other]}
              Watcher: {level: topout}
            """
        let hello = Self.lamp.replacing(#"["Lamp.brightness"]"#, with: #"["Lamp.brightness","other"]"#)
        let found = try ReviewedApp(text, hellos: ["Lamp": hello, "Watcher": ""]).findings
        #expect(found.count == 1 && found[0].contains("observes other"), "\(found)")
    }

    @Test func behindAnAdapterItsActionsAreCompared() throws {
        let text = """
            modules:
              Lamp: {provides: [Lamp]}
              Watcher: {level: topout, requires: [Light]}
            adapters:
              Light: {to: Lamp, actions: {power: {to: brightness}, power.set: {to: brightness.set}}}
            """
        func watcher(_ type: String) -> String {
            #"""
            "requires":["Light"],"contracts":{"module":{"contract":1,"module":"Watcher"},"provides":[],"requires":[\#
            {"contract":1,"interface":"Light","properties":{"power":{"settable":true,"value":{"type":"\#(type)"}}}}]}
            """#
        }
        let alike = try ReviewedApp(text, hellos: ["Lamp": Self.lamp, "Watcher": watcher("integer")]).findings
        #expect(!alike.contains { $0.contains("isn't what") }, "\(alike)")
        let other = try ReviewedApp(text, hellos: ["Lamp": Self.lamp, "Watcher": watcher("string")]).findings
        #expect(other.filter { $0.contains("isn't what Lamp") }.count == 2, "\(other)")
    }
}
