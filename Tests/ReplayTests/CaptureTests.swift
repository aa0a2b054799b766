import StrataCore
import StrataTesting
import TestSupport
import Testing

@testable import StrataReplay

/// The capture file's blocks, and reading them back.
struct CaptureTests {
    private let file =
        CaptureBlock.beginning(program: "strata 1", bus: "shop")
        + CaptureBlock.packet(Array("{}".utf8), at: 0x1_0000_0002) + CaptureBlock.packet(Array("[12345]".utf8), at: 7)

    private func packets(_ file: [UInt8], pieces: Int = .max) throws -> (packets: [String], isCut: Bool) {
        var (reader, packets, rest) = (CaptureReader(), [String](), file[...])
        while !rest.isEmpty {
            reader.add(rest.prefix(pieces))
            rest = rest.dropFirst(pieces)
            while let packet = try reader.nextPacket() { packets.append(String(decoding: packet, as: UTF8.self)) }
        }
        return (packets, reader.isCut)
    }

    @Test(.promise("M.166")) func theBytesAreThoseOfTheFormat() {
        let section: [UInt8] = [
            0x0A, 0x0D, 0x0D, 0x0A, 44, 0, 0, 0, 0x4D, 0x3C, 0x2B, 0x1A, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255,
            255, 4, 0, 8, 0,
        ]
        #expect(Array(file.prefix(28)) == section && Array(file[28..<36]) == Array("strata 1".utf8))
        #expect(Array(file[36..<44]) == [0, 0, 0, 0, 44, 0, 0, 0])
        let interface: [UInt8] = [1, 0, 0, 0, 32, 0, 0, 0, 147, 0, 0, 0, 0, 0, 0, 0, 2, 0, 4, 0]
        #expect(Array(file[44..<64]) == interface && Array(file[64..<68]) == Array("shop".utf8))
        let packet: [UInt8] = [
            6, 0, 0, 0, 36, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0x7B, 0x7D, 0, 0, 36,
            0,
            0, 0,
        ]
        #expect(Array(file[76..<112]) == packet)
    }

    @Test(.promise("M.166"), arguments: [1, 3, 4, 17, 1_000]) func packetsComeBackWhateverThePieces(
        _ pieces: Int
    ) throws {
        let read = try packets(file, pieces: pieces)
        #expect(read.packets == ["{}", "[12345]"] && !read.isCut)
    }

    @Test(.promise("M.166")) func aFileThatEndsInAPacketKeepsThoseBefore() throws {
        let read = try packets(file.dropLast())
        #expect(read.packets == ["{}"] && read.isCut)
    }

    /// Other programs add blocks, and may write the highest byte first.
    @Test func otherBlocksArePassedOverAndBothByteOrdersRead() throws {
        var swapped: [UInt8] = []
        // Every field of this file but texts has four or two bytes, so only whole words are turned here.
        for word in [
            0x0A0D_0D0A, 28, 0x1A2B_3C4D, 0x0001_0000, 0xFFFF_FFFF, 0xFFFF_FFFF, 28, 1, 20, 147 << 16, 0, 20, 0x0BAD,
            16, 9,
            16, 6, 36, 0, 0, 5, 2, 2,
        ] as [UInt32] {
            swapped += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
        }
        swapped += [0x7B, 0x7D, 0, 0, 0, 0, 0, 36]
        #expect(try packets(swapped).packets == ["{}"])
        #expect(try packets(file + swapped + file).packets == ["{}", "[12345]", "{}", "{}", "[12345]"])
    }

    @Test(.promise("M.167")) func whatIsNoCaptureIsRefused() throws {
        func reason(_ bytes: [UInt8]) -> String {
            do {
                _ = try packets(bytes)
                return "none"
            } catch { return "\(error)" }
        }
        #expect(reason(Array("just a text file".utf8)).contains("isn't a pcapng file"))
        var other = file
        other[52] = 1
        #expect(reason(other) == "at byte 44: its packets have the link type 1; those of a bus have 147")
        other = file
        other[96] = 200
        #expect(reason(other).contains("a packet says that it has 200 bytes"))
        other = file
        other[80] = 37
        #expect(reason(other).contains("in words of four"))
        other = file
        (other[80], other[83]) = (0, 255)
        #expect(reason(other).contains("12 to 16 MiB are read"))
        other = file
        other[108] = 40
        #expect(reason(other).contains("two lengths differ"))
    }

    /// A reader of a hostile file ends, and takes no more than the file.
    @Test func anyBytesAreReadOrRefused() throws {
        var generator = SeededGenerator(5)
        for _ in 0..<3_000 {
            var bytes = file
            for _ in 0...Int.random(in: 0..<6, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            if let read = try? packets(bytes, pieces: 13) {
                #expect(read.packets.count <= 2)
            }
        }
    }
}
