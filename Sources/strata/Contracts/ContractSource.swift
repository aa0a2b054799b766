import Glibc
import StrataContracts
import StrataCore
import StrataManifest
import StrataOperator
import StrataSymbols

/// Where a command gets contracts from: a running bus, or the programs of a manifest.
enum ContractSource {
    /// How long the bus may take to answer a question that can be left open, in milliseconds.
    private static let patience: UInt64 = 500

    /// The manifest that is asked if no bus runs: the one that `strata up` runs here.
    private static let manifest = "strata.yaml"

    /// Returns the contract of an interface.
    /// - Parameters:
    ///   - interface: The interface's name.
    ///   - manifest: The manifest whose programs are asked. Nil asks the running bus, and without
    ///     one the programs of `strata.yaml`, if it is there.
    ///   - graph: The doc comments that are added.
    static func contract(
        of interface: String, manifest: String?, _ bus: BusOption, _ graph: SymbolGraph?
    ) throws -> Contract {
        let name = Name.withoutRouterSuffix(interface)
        if let manifest { return try described(name, manifest, graph) }
        let connection: CommandClient
        do { connection = try bus.connect() } catch {
            guard error.status == .noBus, access(Self.manifest, R_OK) == 0 else { throw error }
            return try described(name, Self.manifest, graph)
        }
        let row = try InterfaceActions(of: name, connection).interface
        guard let contracts = try contracts(of: row.module, connection) else {
            throw Failure(.answer, "\(Printable.line(row.module)), which provides \(name), doesn't describe its types")
        }
        return try find(name, in: contracts, of: row.module, graph)
    }

    /// Asks a module on the bus for its contracts; nil if it has none.
    /// - Parameter deadline: How long it may take, in milliseconds; nil is the bus's default.
    static func contracts(
        of module: String, _ connection: CommandClient, deadline: UInt64? = nil
    ) throws(Failure) -> ModuleContracts? {
        let body: [UInt8]
        do throws(Failure) {
            body = try connection.send(
                Request(to: "bus/contracts", ["module": .string(module)], deadline: deadline),
                "waiting for the contracts of \(module)")
        } catch {
            if error.code == .unknownAction { return nil }
            guard error.code == .unavailable else { throw error }
            var failure = error
            failure.message += "\n--manifest \(manifest) asks its program instead."
            throw failure
        }
        do throws(ContractError) { return try ModuleContracts(parsing: body) } catch {
            throw Failure(
                .answer, "the contracts of \(module) can't be understood: \(Printable.line(error.description))")
        }
    }

    /// Asks the module that provides an interface for its contract. Nil if it has none, or doesn't
    /// answer at once: a module that hangs mustn't keep a command from going on.
    static func contract(of interface: InterfaceRow, _ connection: CommandClient) -> Contract? {
        guard mayHaveContract(interface.name, connection) else { return nil }
        return contractsAtOnce(of: interface.module, connection)?.provides.first { $0.subject.name == interface.name }
    }

    /// Asks a module for its contracts. Nil if it has none, or doesn't answer at once.
    static func contractsAtOnce(of module: String, _ connection: CommandClient) -> ModuleContracts? {
        (try? contracts(of: module, connection, deadline: patience)) ?? nil
    }

    private static func mayHaveContract(_ interface: String, _ connection: CommandClient) -> Bool {
        !Name.isReserved(interface) && connection.welcome.features.contains(BrokerFeature.contracts)
    }

    /// Returns the contract of the interface that a call's destination names, and the action's name.
    static func contract(ofAction destination: String, _ connection: CommandClient) -> (Contract, String)? {
        guard let slash = destination.firstIndex(of: "/") else { return nil }
        let interface = Name.withoutRouterSuffix(String(destination[..<slash].prefix { $0 != "#" && $0 != "~" }))
        guard mayHaveContract(interface, connection), let rows = try? connection.interfaces(patience: patience),
            let row = rows.first(where: { $0.name == interface }), let contract = contract(of: row, connection)
        else { return nil }
        return (contract, String(destination[slash...].dropFirst()))
    }

    private static func described(_ interface: String, _ path: String, _ graph: SymbolGraph?) throws -> Contract {
        var app: DescribedApp
        do throws(ManifestErrors) { app = try DescribedApp(path) } catch {
            throw Failure(.usage, error.description, isPlain: true)
        }
        let provider = Judge(app.manifest).provider(of: interface)
        // An interface that no row names may be brought by any program.
        try app.describe(provider.map { [$0] })
        for (module, description) in app.descriptions.sorted(by: { $0.key < $1.key })
        where description.interface(interface) != nil {
            guard let contracts = description.contracts else {
                throw Failure(.answer, "\(module), which provides \(interface), doesn't describe its types")
            }
            return try find(interface, in: contracts, of: module, graph)
        }
        for remark in app.remarks { StandardError.write("strata: \(Printable.line(remark))") }
        let known = app.descriptions.values.flatMap(\.interfaces).map(\.name)
        throw Failure(
            .answer,
            "unknown-interface: no program of \(Printable.line(path)) provides \(interface)"
                + InterfaceActions.hint(nearestNames(to: interface, in: known)), code: .unknownInterface)
    }

    private static func find(
        _ interface: String, in contracts: ModuleContracts, of module: String, _ graph: SymbolGraph?
    ) throws(Failure) -> Contract {
        var contracts = contracts
        graph?.complete(&contracts)
        guard let contract = contracts.provides.first(where: { $0.subject.name == interface }) else {
            throw Failure(.answer, "\(Printable.line(module)) describes no types of \(interface)")
        }
        return contract
    }
}
