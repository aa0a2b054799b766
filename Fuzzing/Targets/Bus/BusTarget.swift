import StrataTesting

/// The bus without its sockets, in a simulation. The input is an app's seed, and what its peers
/// do. The fuzzer learns which steps reach more code, and the simulation's referee judges them.
enum BusTarget {
    static func run(_ input: inout InputReader) throws(FuzzFinding) {
        let seed = input.short()
        if let finding = BusSimulation(seed: seed, choices: input.rest()).run() { throw FuzzFinding("\(finding)") }
    }
}
