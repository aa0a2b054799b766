import ArgumentParser
import StrataContracts
import StrataCore
import StrataOperator
import StrataStubs

/// `strata get`: reads a property, or all of an interface.
struct GetProperty: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Reads a property, or lists those of an interface.",
        discussion: """
            EXAMPLE
              strata get Player/volume
              strata get Player             lists its properties, with their types and values

            A property is the action of its name, so a module that doesn't describe its types is asked all the \
            same. `strata observe Player.volume` shows the value and its changes.
            """)

    @Argument(
        help: ArgumentHelp("The property; an interface alone lists its properties.", valueName: "interface/property"),
        completion: LiveNames.actions)
    var target: String

    @OptionGroup var timeout: TimeoutOption
    @OptionGroup var output: OutputOption
    @OptionGroup var bus: BusOption

    func run() throws {
        let answer = Answer(output)
        guard target.contains("/") else {
            return try PropertyList(of: target, timeout, try bus.connect()).show(answer)
        }
        let names = try PropertyAddress.names(target)
        let connection = try bus.connect()
        _ = try PropertyAddress.known(names, connection)
        try answer.show(try PropertyAddress.read(names, timeout, connection))
    }
}

/// `strata set`: sets a property.
struct SetProperty: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Sets a property to a value.",
        discussion: """
            EXAMPLE
              strata set Player/volume 40
              strata set Player/title Prelude      a value that is no JSON is a text
              strata set Player/title '"40"'
              strata set Sensor/offset -- -5       a value that begins with -

            If the module describes its types, the value is checked before it is sent; --unchecked sends it as it \
            is. When the command ends, observers have been told.
            """)

    @Argument(
        help: ArgumentHelp("The property.", valueName: "interface/property"), completion: LiveNames.settableProperties)
    var target: String

    @Argument(help: ArgumentHelp("The value, as JSON or a text; - reads it from stdin.", valueName: "value"))
    var value: String

    @Flag(help: "Sends the value without checking it.")
    var unchecked = false

    @OptionGroup var timeout: TimeoutOption
    @OptionGroup var bus: BusOption

    func run() throws {
        let names = try PropertyAddress.names(target)
        let value = try Params.value(value)
        let connection = try bus.connect()
        if !unchecked, let property = try PropertyAddress.known(names, connection), !property.isSettable {
            throw Failure(
                .answer, "unknown-action: the property \(names.get) can't be set: its owner alone changes it",
                code: .unknownAction)
        }
        var request = Request(to: names.set, body: Array("{\"value\":".utf8) + value + Array("}".utf8))
        request.limit(timeout)
        if !unchecked { try ParamsCheck(names.set, connection)?.check(request.body) }
        do { _ = try connection.send(request, "waiting for \(names.set)") } catch {
            guard error.code == .unknownAction else {
                throw InterfaceActions.suggesting(for: names.get, error, connection)
            }
            throw Failure(
                .answer,
                "unknown-action: \(names.get) can't be set: \(names.interface) has no action \(names.setter), which sets a "
                    + "property\(PropertyAddress.hint(names, connection))", code: .unknownAction)
        }
    }
}

/// How commands find a property.
enum PropertyAddress {
    /// Reads `Interface/property`.
    static func names(_ text: String) throws(Failure) -> PropertyNames {
        guard let names = PropertyNames(splitting: text) else {
            throw Failure(
                .usage, "\(Printable.line(text)) names no property: write Interface/property, such as Player/volume")
        }
        return names
    }

    /// Returns what a contract says of a property. Nil if the module describes nothing, or not at once.
    /// - Throws: `answer` if it describes the interface without such a property.
    static func known(_ names: PropertyNames, _ connection: CommandClient) throws(Failure) -> Contract.Property? {
        guard let (contract, _) = ContractSource.contract(ofAction: names.get, connection) else { return nil }
        if let property = contract.property(names.property) { return property }
        // An action without types may be a property by convention.
        if let action = contract.action(names.property), action.params == nil { return nil }
        let near = nearestNames(to: names.property, in: contract.properties.map(\.name))
        let isAction = contract.action(names.property) != nil
        throw Failure(
            .answer,
            "unknown-action: \(names.interface) has no property \(names.property)"
                + (isAction ? ", but an action of that name: strata call \(names.get)" : "")
                + InterfaceActions.hint(near.map { "\(names.interface)/\($0)" }), code: .unknownAction)
    }

    /// Reads a property's value.
    static func read(
        _ names: PropertyNames, _ timeout: TimeoutOption, _ connection: CommandClient
    ) throws(Failure) -> [UInt8] {
        var request = Request(to: names.get, nil)
        request.limit(timeout)
        let body: [UInt8]
        do { body = try connection.send(request, "waiting for \(names.get)") } catch {
            throw InterfaceActions.suggesting(for: names.get, error, connection)
        }
        return body.isEmpty ? Array("null".utf8) : body
    }

    /// Returns a line with the settable properties whose names are near.
    fileprivate static func hint(_ names: PropertyNames, _ connection: CommandClient) -> String {
        let rows = (try? connection.interfaces()) ?? []
        let settable = rows.first { $0.name == names.interface }.map(settableProperties) ?? []
        return InterfaceActions.hint(nearestNames(to: names.property, in: settable).map { "\(names.interface)/\($0)" })
    }

    /// Returns the properties of an interface that can be set, by the names of its actions alone.
    static func settableProperties(of interface: InterfaceRow) -> [String] {
        let actions = Set(interface.actions.map(\.name))
        return interface.actions.map(\.name).filter {
            actions.contains(PropertyNames(interface: interface.name, property: $0).setter)
        }
    }
}

/// The properties of one interface, with their values.
private struct PropertyList {
    private struct Row {
        let name: String
        let property: Contract.Property?
        let isSettable: Bool
        let value: Result<[UInt8], Failure>
    }

    private let interface: String
    private let rows: [Row]
    private let isDescribed: Bool

    init(of interface: String, _ timeout: TimeoutOption, _ connection: CommandClient) throws {
        let row = try InterfaceActions(of: interface, connection).interface
        let contract = ContractSource.contract(of: row, connection)
        self.interface = row.name
        isDescribed = contract != nil
        let described = contract?.properties ?? []
        let others = PropertyAddress.settableProperties(of: row).filter { name in
            !described.contains { $0.name == name }
        }
        func read(_ name: String) -> Result<[UInt8], Failure> {
            Result { () throws(Failure) in
                try PropertyAddress.read(PropertyNames(interface: row.name, property: name), timeout, connection)
            }
        }
        rows =
            described.map { Row(name: $0.name, property: $0, isSettable: $0.isSettable, value: read($0.name)) }
            + others.map { Row(name: $0, property: nil, isSettable: true, value: read($0)) }
    }

    func show(_ answer: Answer) throws {
        if answer.isForPrograms { return try answer.showEach(rows.map(Self.json)) }
        guard !rows.isEmpty else {
            let reason =
                isDescribed
                ? "\(interface) has no properties." : "\(interface) describes no types, so its properties aren't known."
            return StandardOutput.write(line: "\(reason) `strata call \(interface)` lists its actions.")
        }
        var table = Table(columns: [
            .init("PROPERTY"), .init("TYPE", isOptional: true), .init("SET", isOptional: true),
            .init("VALUE", isFlexible: true),
        ])
        for row in rows {
            let value: Table.Cell
            switch row.value {
            case .success(let body): value = .init(String(decoding: JSONText.compact(body) ?? body, as: UTF8.self))
            case .failure(let failure): value = .init(failure.message, .red)
            }
            table.add([
                .init("\(interface)/\(row.name)", .bold),
                .init(row.property?.value.map { ContractText.type($0) } ?? "…", .dim),
                .init(row.isSettable ? "yes" : "–"), value,
            ])
        }
        table.print(answer.painter)
    }

    private static func json(_ row: Row) -> JSON {
        var members: [JSON.Member] = [.init("name", .string(row.name)), .init("settable", .bool(row.isSettable))]
        if let type = row.property?.value { members.append(.init("type", type.json())) }
        switch row.value {
        case .success(let body): members.append(.init("value", (try? JSON(parsing: body)) ?? .null))
        case .failure(let failure): members.append(.init("error", .string(failure.message)))
        }
        return .object(members)
    }
}
