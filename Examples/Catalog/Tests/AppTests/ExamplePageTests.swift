import Testing

/// The pages whose app this is are typed, and write what they show.
@Suite(.timeLimit(.minutes(10)))
struct ExamplePageTests {
    @Test func theFirstTenMinutesAreReplayed() throws {
        #expect(try RepositoryFolder().replay("../../docs/first-ten-minutes.md") > 30)
    }

    @Test func theTwelveCommandsAreReplayed() throws {
        #expect(try RepositoryFolder().replay("README.md") > 15)
    }
}
