public import Strata

extension Storage {
    /// Keeps a note; null where there is no package of that name.
    public struct AddNote: Action {
        public static let name = action("addNote")
        public typealias Reply = Note?
        public var item: String
        public var text: String
        public var writer: String

        public init(item: String, text: String, writer: String) {
            self.item = item
            self.text = text
            self.writer = writer
        }
    }

    /// The newest notes, `Storage.mostAtOnce` at most, the oldest of them first.
    public struct Notes: Action {
        public static let name = action("notes")
        public typealias Reply = [Note]
        /// The package that they are about; nil for any.
        public var item: String?

        public init(on item: String? = nil) { self.item = item }
    }

    /// The newest notes about packages that have been removed since.
    public struct StrayNotes: Action {
        public static let name = action("strayNotes")
        public typealias Reply = [Note]

        public init() {}
    }
}
