public import StrataCore

/// The contract of an interface, or of a module: its actions, properties and notifications, and their
/// types.
///
/// All of them are sorted by name, so that equal contracts are equal documents.
public struct Contract: Sendable, Equatable {
    /// What a contract is about.
    public enum Subject: Sendable, Hashable {
        case interface(String)
        /// What a module itself sends and observes, and its settings.
        case module(String)

        public var name: String {
            switch self {
            case .interface(let name), .module(let name): name
            }
        }
    }

    public var subject: Subject
    /// Nil if the interface has no version: it is then never compared with another one's.
    public var version: ContractVersion?
    /// What it is for; nil if nobody says.
    public var doc: String?
    /// Whether each user creates instances of its own.
    public var hasInstances = false
    /// The actions. Those of properties aren't among them.
    public var actions: [Action] = []
    /// The properties of an interface; of a module none.
    public var properties: [Property] = []
    /// The broadcasts, without those of an interface's properties.
    public var broadcasts: [Notice] = []
    public var reports: [Notice] = []
    /// The notifications that a module observes; of an interface none.
    public var observes: [Notice] = []
    /// The settings that a module declares, as the members of one object; of an interface nil.
    public var settings: Schema.Members?
    /// The schemas that others refer to, by name.
    public var definitions: [String: Schema] = [:]

    public init(_ subject: Subject, version: ContractVersion? = nil) {
        self.subject = subject
        self.version = version
    }

    /// An action of an interface.
    public struct Action: Sendable, Equatable {
        public var name: String
        public var doc: String?
        public var isDeprecated = false
        /// Whether the app's authorizer is asked; nil if the contract's author doesn't know, as a
        /// caller doesn't.
        public var needsAuthorization: Bool?
        /// The schema of the params; nil if it isn't known, so that any value may be right.
        public var params: Schema?
        public var result = Result.reply(nil)
        /// The most descriptors that go with its calls and its replies.
        public var descriptors = DescriptorCounts.none
        /// The errors of its own that it answers with, sorted by code.
        public var errors: [Problem] = []

        public init(_ name: String) { self.name = name }
    }

    /// What an action answers with. Nil schemas aren't known.
    public enum Result: Sendable, Equatable {
        case reply(Schema?)
        /// A stream, and the schema of one partial reply.
        case elements(Schema?)
    }

    /// An error of a module's own.
    public struct Problem: Sendable, Equatable {
        /// The code, with a dot: `Player.no-such-track`.
        public var code: String
        public var doc: String?

        public init(_ code: String, doc: String? = nil) {
            self.code = code
            self.doc = doc
        }
    }

    /// A value that callers read, observe, and perhaps set. Its actions and its broadcast follow from it.
    public struct Property: Sendable, Equatable {
        public var name: String
        public var doc: String?
        public var isDeprecated = false
        /// Whether callers may set it.
        public var isSettable = false
        /// Whether the app's authorizer is asked before it is set; nil if that isn't known, or nobody sets
        /// it.
        public var needsAuthorization: Bool?
        /// The schema of the value; nil if it isn't known.
        public var value: Schema?
        /// The errors of its own with which a set is answered, sorted by code.
        public var errors: [Problem] = []

        public init(_ name: String, value: Schema? = nil, isSettable: Bool = false) {
            self.name = name
            self.value = value
            self.isSettable = isSettable
        }
    }

    /// A notification that is sent or observed.
    public struct Notice: Sendable, Equatable {
        public var name: String
        public var doc: String?
        public var isDeprecated = false
        /// The schema of the content; nil if it isn't known.
        public var content: Schema?

        public init(_ name: String, content: Schema? = nil) {
            self.name = name
            self.content = content
        }
    }
}
