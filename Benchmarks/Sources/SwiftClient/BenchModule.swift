/// `bench-module callee` and `bench-module caller HOW OPEN WARM-UP SECONDS`, HOW
/// being `bytes`, `async` or `typed`: the Swift runtime at both ends of a call.
@main
enum BenchModule {
    static func main() {
        if CommandLine.arguments.dropFirst().first == "callee" {
            CalleeModule.main()
        } else {
            CallerModule.main()
        }
    }
}
