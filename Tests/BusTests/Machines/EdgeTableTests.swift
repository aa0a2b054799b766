import StrataCore
import Testing

@testable import StrataBus

/// The edges that `bus/traffic` counts, as a value.
struct EdgeTableTests {
    /// A table, with names instead of their numbers.
    private final class Counting {
        var table = EdgeTable(number: 1, since: 0)

        private func number(_ text: String, isSender: Bool = false) -> UInt32 {
            Array(text.utf8).withUnsafeBytes { table.number(of: $0, isSender: isSender) }
        }

        func place(_ from: String, _ to: String, _ name: String) -> Int {
            table.place(EdgeTable.Key(number(from, isSender: true), number(to), .call, number(name)))
        }

        func told(_ place: Int) throws -> JSON {
            var bytes: [UInt8] = []
            table.tell(place, to: 1, in: &bytes)
            return try JSON(parsing: bytes)
        }
    }

    @Test(.promise("N.46")) func namesAreToldAsTheyAreAndLongOnesAreLeftOut() throws {
        let counting = Counting()
        let long = String(repeating: "x", count: 257)
        let edge = counting.place("A\"b", "Ä", long)
        counting.table.open(at: edge)
        #expect(
            try counting.told(edge) == [
                "from": "A\"b", "to": "Ä", "kind": "call", "name": "", "count": 1, "errors": 0, "waiting": 1,
            ])
        #expect(counting.place("A\"b", "Ä", String(repeating: "y", count: 300)) == edge)
    }

    @Test(.promise("N.46")) func theMostEdgesAreCountedAndTheirOthersForTheMostSenders() throws {
        let counting = Counting()
        counting.table.add(stream: 1)
        for number in 0..<EdgeTable.most {
            #expect(counting.place("From\(number % 64)", "To", "Name\(number)") == number)
        }
        let first = counting.place("From1", "To", "another")
        #expect(first == EdgeTable.most && counting.place("From1", "To9", "third") == first)
        #expect(try counting.told(first).matches(["from": "From1", "to": "", "kind": "others", "name": ""]))
        // Known edges are still found.
        #expect(counting.place("From1", "To", "Name1") == 1)
        for number in 1..<EdgeTable.mostOthers { #expect(counting.place("New\(number)", "To", "x") == first + number) }
        let shared = counting.place("New5000", "To", "x")
        #expect(shared == EdgeTable.capacity - 1 && counting.place("New6000", "To", "y") == shared)
        #expect(try counting.told(shared).matches(["from": "", "kind": "others"]))
        #expect(counting.place("New7", "To", "x") == first + 7 && counting.table.count == EdgeTable.capacity)
    }

    @Test(.promise("N.45")) func eachStreamIsToldOfEachChangeOnce() throws {
        let counting = Counting()
        counting.table.add(stream: 1)
        let edges = (0..<5).map { counting.place("A", "B", "\($0)") }
        counting.table.count(at: edges[0])
        counting.table.add(stream: 2)
        func changed(_ stream: UInt8) -> [Int] {
            var found: [Int] = []
            var bytes: [UInt8] = []
            while let place = counting.table.next(from: found.last.map { $0 + 1 } ?? 0, for: stream) {
                counting.table.tell(place, to: stream, in: &bytes)
                found.append(place)
            }
            return found
        }
        #expect(changed(1) == edges && changed(2) == edges)
        #expect(changed(1).isEmpty && changed(2).isEmpty)
        counting.table.count(at: edges[3])
        #expect(changed(2) == [edges[3]] && changed(1) == [edges[3]])
        counting.table.count(at: edges[2])
        counting.table.remove(stream: 2)
        #expect(changed(2).isEmpty && changed(1) == [edges[2]])
    }

    @Test(.promise("N.44")) func aReferenceBelongsToOneTable() {
        #expect(EdgeReference().place(in: 1) == nil)
        for place in [0, 1, EdgeTable.capacity - 1] {
            #expect(EdgeReference(place, of: 1).place(in: 1) == place)
            #expect(EdgeReference(place, of: 1).place(in: 2) == nil)
        }
        // The number whose bits are all used up is left out.
        #expect(EdgeReference.next(after: 1 << 19 - 1) == 1 << 19 + 1)
    }
}
