import Strata

/// What Notes requires of whoever knows people, in its own words. Which interface
/// stands behind it, and what that calls these things, is for the app's manifest to
/// say (`adapters`): Notes imports no contract but its own.
enum NoteLogin: Interface {
    static let name = "NoteLogin"
    static let members: [any InterfaceMember.Type] = [Ask.self, Writer.self]

    /// Asks for somebody who writes notes, and gives the ticket that they will
    /// have.
    struct Ask: Action {
        static let name = action("ask")
        var message: String

        struct Reply: Codable, Sendable {
            var ticket: String
        }
    }

    /// Whose ticket it is.
    struct Writer: Action {
        static let name = action("writer")
        var ticket: String

        struct Reply: Codable, Sendable {
            var writer: String
        }
    }
}

/// A writer's ticket is worth nothing any more. An adapter gives a notice another
/// name and leaves its content: `user` is the sender's word.
struct WriterLeft: Broadcast {
    static let name = "note.writerLeft"
    var user: String
}
