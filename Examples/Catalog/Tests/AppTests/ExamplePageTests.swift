import Testing

/// The pages whose app this is are typed, and write what they show.
@Suite(.timeLimit(.minutes(10)))
struct ExamplePageTests {
    @Test func theFirstTenMinutesAreReplayed() throws {
        #expect(try RepositoryFolder().replay("../../docs/guide.md", section: "The example app") > 20)
    }

    @Test func theTwelveCommandsAreReplayed() throws {
        #expect(try RepositoryFolder().replay("README.md") > 15)
    }
}
