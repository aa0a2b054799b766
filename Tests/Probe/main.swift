internal import Glibc
import Strata
import StrataLoop
import StrataOperator

if CommandLine.arguments.dropFirst() != ["--operator"] { ProbeModule.main() }
// As an operator.
let client = BusClient(try Loop(), path: getenv("STRATA_SOCKET").map { String(cString: $0) } ?? "")
do throws(ClientError) {
    try client.open()
    let answer = try client.send(Request(to: "Probe/echo", body: Array(#"{"by":"operator"}"#.utf8)))
    print(String(decoding: answer, as: UTF8.self))
} catch {
    var line = "\(error)\n"
    _ = line.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    exit(1)
}
