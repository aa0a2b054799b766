import ContractSamples
import StrataCore

// Writes lines of random contracts to standard output: contract-corpus [COUNT [SEED]].
let numbers = CommandLine.arguments.dropFirst().map { Int($0) }
guard numbers.count <= 2, !numbers.contains(nil), let count = numbers.first ?? 1_000, count >= 0 else {
    fatalError("usage: contract-corpus [COUNT [SEED]]")
}
let first = numbers.dropFirst().first.flatMap(\.self) ?? 1
for seed in first..<(first + count) { print(ContractCorpus.line(seed: seed)) }
