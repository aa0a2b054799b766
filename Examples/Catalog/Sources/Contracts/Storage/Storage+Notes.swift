public import Strata

extension Storage {
    /// Keeps a note; null where there is no package of that name.
    public struct AddNote: Action {
        public static let name = action("addNote")
        public typealias Reply = Note?
        public var item: String
        public var text: String

        public init(item: String, text: String) {
            self.item = item
            self.text = text
        }
    }

    /// The notes about a package, the oldest first.
    public struct NotesOn: Action {
        public static let name = action("notesOn")
        public typealias Reply = [Note]
        public var item: String

        public init(item: String) { self.item = item }
    }

    /// The notes about packages that have been removed since.
    public struct StrayNotes: Action {
        public static let name = action("strayNotes")
        public typealias Reply = [Note]

        public init() {}
    }
}
