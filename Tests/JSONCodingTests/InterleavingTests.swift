import FoundationEssentials
import StrataCore
import StrataTesting
import Testing
import TestSupport

@testable import StrataJSON

/// Containers are written in any order, and the result is the same as Foundation's.
@Suite(.timeLimit(.minutes(10)))
struct InterleavingTests {
    @Test func containersInAnyOrderGiveWhatFoundationGives() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let writer = JSONWriter()
        for seed in 0..<DifferenceTests.rounds {
            let value = Written { encoder in
                var scribble = Scribble(seed)
                try scribble.run(encoder)
            }
            let ours = try writer.encode(value)
            let theirs = Array(try encoder.encode(value))
            #expect(
                try JSON(parsing: ours).sorted == JSON(parsing: theirs).sorted,
                "seed \(seed):\n\(String(decoding: ours, as: UTF8.self))\n\(String(decoding: theirs, as: UTF8.self))")
        }
    }
}

/// Opens containers inside containers, and writes to each of them now and then.
private struct Scribble {
    private enum Container {
        case keyed(KeyedEncodingContainer<Name>)
        case unkeyed(any UnkeyedEncodingContainer)
        case encoder(any Encoder)
    }

    private var generator: SeededGenerator
    private var containers: [Container] = []
    private var names = 0
    private let depth: Int

    init(_ seed: Int, depth: Int = 0) {
        generator = SeededGenerator(seed)
        self.depth = depth
    }

    mutating func run(_ encoder: any Encoder) throws {
        open(encoder)
        for _ in 0..<generator.below(depth == 0 ? 30 : 6) { try step(generator.below(containers.count)) }
        // Containers that are left empty are empty in both results.
        containers.shuffle(using: &generator)
    }

    private mutating func open(_ encoder: any Encoder) {
        containers.append(
            generator.oneIn(2) ? .keyed(encoder.container(keyedBy: Name.self)) : .unkeyed(encoder.unkeyedContainer()))
    }

    private mutating func step(_ index: Int) throws {
        switch containers[index] {
        case .encoder(let encoder):
            containers.remove(at: index)
            if generator.oneIn(3) { try generator.text().encode(to: encoder) } else { open(encoder) }

        case .keyed(var container):
            names += 1
            let new = Name(stringValue: "\(generator.below(9)) \(names)")
            switch generator.below(8) {
            case 0, 1:
                try container.encode(generator.below(99), forKey: Name(stringValue: "again \(generator.below(4))"))
            case 2: try container.encode(generator.text(), forKey: new)
            case 3: try container.encode(inner(), forKey: new)
            case 4: try container.encode(["b": [1], "a": []], forKey: new)
            case 5: containers.append(.keyed(container.nestedContainer(keyedBy: Name.self, forKey: new)))
            case 6: containers.append(.unkeyed(container.nestedUnkeyedContainer(forKey: new)))
            default: containers.append(.encoder(container.superEncoder(forKey: new)))
            }
            containers[index] = .keyed(container)
        case .unkeyed(var container):
            switch generator.below(5) {
            case 0: try container.encode(generator.below(99))
            case 1: try container.encodeNil()
            case 2: try container.encode(inner())
            case 3: containers.append(.keyed(container.nestedContainer(keyedBy: Name.self)))
            // Foundation puts a container of `superEncoder` at the end that the array has when
            // the container is finished. A separate test covers that.
            default: containers.append(.unkeyed(container.nestedUnkeyedContainer()))
            }
            containers[index] = .unkeyed(container)
        }
    }

    private mutating func inner() -> Written {
        let (seed, depth) = (generator.below(1 << 30), depth + 1)
        return Written { encoder in
            guard depth < 4 else { return try 1.encode(to: encoder) }
            var scribble = Scribble(seed, depth: depth)
            try scribble.run(encoder)
        }
    }
}
