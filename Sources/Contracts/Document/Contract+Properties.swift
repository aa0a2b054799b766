public import StrataCore

extension Contract {
    /// The name of the param of the action that sets a property.
    public static let valueParam = "value"

    /// Returns an action by its name, also one that belongs to a property.
    public func action(_ name: String) -> Action? {
        actions.first { $0.name == name } ?? actionsOfProperties.first { $0.name == name }
    }

    public func property(_ name: String) -> Property? { properties.first { $0.name == name } }

    /// The names that a property has on the bus.
    public func names(of property: Property) -> PropertyNames {
        PropertyNames(interface: subject.name, property: property.name)
    }

    /// The actions that read and set the properties.
    public var actionsOfProperties: [Action] {
        properties.flatMap { property in
            let names = names(of: property)
            var read = Action(property.name)
            (read.doc, read.isDeprecated) = (property.doc, property.isDeprecated)
            read.params = Schema(.object(Schema.Members([])))
            read.result = .reply(property.value)
            guard property.isSettable else { return [read] }
            var set = Action(names.setter)
            (set.doc, set.isDeprecated) = (property.doc, property.isDeprecated)
            set.needsAuthorization = property.needsAuthorization
            let value = Schema.Property(Self.valueParam, property.value ?? Schema(.any), isRequired: true)
            set.params = Schema(.object(Schema.Members([value])))
            set.result = .reply(Schema(.object(Schema.Members([]))))
            set.errors = property.errors
            return [read, set]
        }
    }

    /// The broadcasts that tell the properties' values.
    public var broadcastsOfProperties: [Notice] {
        properties.map { property in
            var notice = Notice(names(of: property).notice, content: property.value)
            (notice.doc, notice.isDeprecated) = (property.doc, property.isDeprecated)
            return notice
        }
    }
}
