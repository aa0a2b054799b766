import StrataFuzzing
import Testing

/// The inputs that the fuzzer found are run again with each build.
@Suite(.timeLimit(.minutes(10)))
struct ReplayTests {
    @Test(arguments: FuzzTarget.allCases)
    func everyKeptInputIsWithoutAFinding(target: FuzzTarget) throws {
        let paths = KeptInputs.paths(of: target)
        #expect(paths.count > 10, "\(target) has nearly no corpus: scripts/fuzz --keep \(target)")
        for path in paths {
            let bytes = try KeptInputs.bytes(path)
            do throws(FuzzFinding) {
                try bytes.withUnsafeBufferPointer { (bytes) throws(FuzzFinding) in
                    try target.run(UnsafeRawBufferPointer(bytes), isAlone: false)
                }
            } catch {
                Issue.record("\(path): \(error)")
            }
        }
    }
}
