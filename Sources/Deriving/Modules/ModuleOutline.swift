public import StrataContracts
public import StrataCore

/// What a module exports and declares, as far as contracts say it: names and types, of which nothing
/// is derived yet. It can be sent to another thread.
public struct ModuleOutline: Sendable {
    /// A type that can be derived.
    public typealias Content = any (Decodable & SendableMetatype).Type

    /// An action. Without types it has no contract.
    public struct Action: Sendable {
        public var name: String
        public var needsAuthorization: Bool?
        /// The type of its params, which also declares it in Swift.
        public var params: Content?
        /// The type of its reply, or of an element.
        public var result: Content?
        public var isStream = false
        /// The most descriptors that go with its calls and its replies.
        public var descriptors = DescriptorCounts.none
        /// The codes of its own errors, and what each means.
        public var errors: [(code: String, doc: String)] = []

        public init(_ name: String) { self.name = name }
    }

    /// A property of an interface.
    public struct Property: Sendable {
        public var name: String
        /// The type of its value.
        public var value: Content
        /// The type that declares it; nil if it is exported by name.
        public var type: (any SendableMetatype.Type)?
        public var isSettable = false
        public var needsAuthorization: Bool?
        /// The codes of its own errors, and what each means.
        public var errors: [(code: String, doc: String)] = []

        public init(_ name: String, _ value: Content, type: (any SendableMetatype.Type)? = nil) {
            self.name = name
            self.value = value
            self.type = type
        }
    }

    /// A notification. Without a type it has no contract.
    public struct Notice: Sendable {
        public var name: String
        public var content: Content?
        /// The type that declares it, if that isn't the content's.
        public var type: (any SendableMetatype.Type)?

        public init(_ name: String, _ content: Content?, type: (any SendableMetatype.Type)? = nil) {
            self.name = name
            self.content = content
            self.type = type
        }
    }

    /// The settings that a module declares.
    public struct Settings: Sendable {
        /// The type whose coding keys are the settings' keys.
        public var type: Content
        /// The defaults by their keys.
        public var defaults: JSON

        public init(_ type: Content, defaults: JSON) {
            self.type = type
            self.defaults = defaults
        }
    }

    /// An interface that is provided or required.
    public struct Interface: Sendable {
        public var name: String
        public var version: ContractVersion?
        /// The type that declares it; nil if only its name is known.
        public var type: (any SendableMetatype.Type)?
        public var hasInstances = false
        /// What is exported, without the actions of properties; of a required interface what it lists.
        public var actions: [Action] = []
        public var properties: [Property] = []
        /// The names of the actions that a provided interface lists as its members; nil if it lists
        /// nothing.
        public var listed: [String]?
        /// The names of the properties that it lists.
        public var listedProperties: [String] = []
        public var broadcasts: [Notice] = []
        public var reports: [Notice] = []

        public init(_ name: String, version: ContractVersion? = nil, type: (any SendableMetatype.Type)? = nil) {
            self.name = name
            self.version = version
            self.type = type
        }
    }

    public var name: String
    /// The module's own type.
    public var type: any SendableMetatype.Type
    public var provides: [Interface] = []
    public var requires: [Interface] = []
    public var broadcasts: [Notice] = []
    public var reports: [Notice] = []
    public var observes: [Notice] = []
    /// Nil if the module declares none.
    public var settings: Settings?

    public init(_ name: String, _ type: any SendableMetatype.Type) {
        self.name = name
        self.type = type
    }
}
