internal import Logging

/// `bench-module minimal`, `… callee`, `… worker`, and `bench-module caller HOW OPEN
/// WARM-UP SECONDS` or `… HOW OPEN calls NUMBER`, HOW being `bytes`, `async` or `typed`:
/// the Swift runtime at both ends of a call.
@main
enum BenchModule {
    static func main() {
        // On a busy machine the runtime warns that work takes long. That would count as a call's allocations.
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        switch CommandLine.arguments.dropFirst().first {
        case "minimal": MinimalModule.main()
        case "callee": CalleeModule.main()
        case "worker": WorkerModule.main()
        default: CallerModule.main()
        }
    }
}
