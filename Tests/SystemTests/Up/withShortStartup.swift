import Testing

/// Runs a test with a short `startup`, because the test waits for it. On a busy machine even
/// healthy modules may not start in time. Then the test runs again with a longer one.
/// - Parameter test: returns whether the healthy modules have started in time.
func withShortStartup(_ test: (_ startup: String) throws -> Bool) throws {
    for startup in ["500ms", "5s"] { if try test(startup) { return } }
    #expect(try test("60s"), "not even a minute is enough here for a module to start")
}
