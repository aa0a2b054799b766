import Logging
import TestSupport
import Testing

@testable import Strata

@Suite(.timeLimit(.hang))
struct LauncherLogHandlerTests {
    private let handler = LauncherLogHandler(label: "shop")

    @Test(.promise("M.163")) func eachLineHasTheMarkOfItsLevel() {
        let marks = Logger.Level.allCases.map { handler.lines($0, "x", [:], isMarked: true).prefix(3) }
        #expect(marks == ["<7>", "<7>", "<6>", "<5>", "<4>", "<3>", "<2>"])
        #expect(
            handler.lines(.error, "no room\nat all", ["left": "0", "disk": "a"], isMarked: true)
                == "<3>shop: no room\n<3>at all disk=a left=0\n")
    }

    @Test(.promise("M.163")) func withoutALauncherTheLevelIsAWord() {
        #expect(handler.lines(.warning, "late", [:], isMarked: false) == "warning: shop: late\n")
    }

    @Test(.promise("M.163")) func itIsALoggersHandler() {
        var logger = Logger(label: "shop") { LauncherLogHandler(label: $0) }
        logger[metadataKey: "a"] = "1"
        #expect(logger[metadataKey: "a"] == "1" && logger.logLevel == .info)
    }
}
