import Glibc

/// The function that libFuzzer calls for each input. `STRATA_FUZZ` names the target. A finding is
/// written to standard error and ends the process.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do throws(FuzzFinding) {
        try target.run(UnsafeRawBufferPointer(start: data, count: count), isAlone: true)
    } catch {
        complain("finding: \(error)")
        abort()
    }
    return 0
}

private let target: FuzzTarget = {
    let name = getenv("STRATA_FUZZ").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
        complain("STRATA_FUZZ is \"\(name)\": set it to one of \(names)")
        exit(2)
    }
    return target
}()

private func complain(_ message: String) {
    let line = Array("\(message)\n".utf8)
    _ = write(2, line, line.count)
}
