import ContractSamples
import DerivingFixtures
import Glibc
import StrataCore

// Writes lines of contracts to standard output: of random ones with contract-corpus [COUNT [SEED]], of
// Swift types with contract-corpus derived.
if CommandLine.arguments.dropFirst() == ["derived"] {
    for fixture in FixtureType.all { print(try DerivedCorpus.line(fixture)) }
} else {
    let numbers = CommandLine.arguments.dropFirst().map { Int($0) }
    guard numbers.count <= 2, !numbers.contains(nil), let count = numbers.first ?? 1_000, count >= 0 else {
        let usage = Array("usage: contract-corpus [COUNT [SEED]], or contract-corpus derived\n".utf8)
        write(STDERR_FILENO, usage, usage.count)
        exit(2)
    }
    let first = numbers.dropFirst().first.flatMap(\.self) ?? 1
    for seed in first..<(first + count) { print(ContractCorpus.line(seed: seed)) }
}
