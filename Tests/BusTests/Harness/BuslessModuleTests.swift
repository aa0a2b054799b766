import StrataCore
import StrataTesting
import Testing

@Suite(.timeLimit(.hang))
struct BuslessModuleTests {
    @Test func moduleThatDoesNotKeepItsBusLives() throws {
        try TestBus.run(AppTable.testing(.manual("Busless"))) { bus in
            try bus.start(BuiltExecutable.path("BuslessModule"), as: "Busless")
            #expect(try bus.operator().asked("Busless/echo", ["still": "here"]) == ["still": "here"])
        }
    }
}
