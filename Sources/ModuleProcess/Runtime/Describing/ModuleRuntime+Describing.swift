internal import StrataCore
internal import StrataDeriving

extension ModuleRuntime {
    /// Returns the module's hello as JSON, with its contracts: what `--describe` prints.
    static func describe<M: Module>(_ type: M.Type) throws -> String {
        let runtime = ModuleRuntime(type, Configuration(socket: "")) { _, _ in }
        try runtime.make()
        let contracts = try ContractBuilder(runtime.outline(), checks: true).contracts
        let described = [JSON.Member("contracts", contracts.json())]
        return JSON.object((runtime.hello(resumed: false, takesFiles: false).object ?? []) + described).description
    }

    /// Answers `module/contracts`. They are derived when they are first asked for, beside the loop, and
    /// kept until the exports change.
    func describeContracts(_ call: IncomingCall) {
        call.run { [unowned self] call in
            let body = try await contracts()
            let most = call.longestReply
            guard body.count <= most else {
                throw ModuleError(
                    .failed,
                    "the contracts of \(name) have \(body.count) bytes, and a frame has room for \(most): raise "
                        + "limits.frame in the manifest, or ask the program with --describe")
            }
            call.reply(body)
        }
    }

    private func contracts() async throws -> [UInt8] {
        if let contracts = offers.contracts { return try contracts.get() }
        let (outline, actions) = (try outline(), offers.actions)
        let contracts = try await blocking {
            Result { () throws(ContractFailure) in try ContractBuilder(outline).contracts.json().encoded() }
        }
        // Unless something else is exported meanwhile.
        if actions === offers.actions { offers.contracts = contracts }
        return try contracts.get()
    }

    private func outline() throws -> ModuleOutline {
        try offers.exports.outline(name, moduleType, observations.all)
    }
}
