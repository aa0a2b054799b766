import Glibc

/// The folders where a native program looks for its libraries before the system's (its RUNPATH). The linker of Swift
/// writes the folder of the toolchain there. On another machine that folder may be anybody's, and the unit's
/// programs would load what is in it.
enum LibraryFolders {
    /// Keeps the last folders of a program that are relative to it (`$ORIGIN`), and leaves out all before them.
    ///
    /// The text stays as it is, because names of symbols may be parts of it: the program then points to a later
    /// place in it. So a relative folder is left out, too, if an absolute one follows it.
    /// - Returns: the changed program; nil if nothing is to be changed, or it isn't ELF of 64 bits, least byte first.
    static func withoutThoseOfThisMachine(_ program: [UInt8]) -> [UInt8]? {
        guard let file = File(bytes: program), var entries = file.dynamic, let names = file.names(entries) else {
            return nil
        }
        var changed = program
        var isChanged = false
        while let tag = file.number(at: entries.lowerBound, bytes: 8), tag != Tag.end, entries.count >= 16 {
            let place = entries.lowerBound + 8
            entries = entries.dropFirst(16)
            guard tag == Tag.path || tag == Tag.runPath, let name = file.number(at: place, bytes: 8),
                names < program.count, name < program.count - names
            else { continue }
            let text = program[(names + name)...].prefix { $0 != 0 }
            let kept = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
                .reversed().prefix { $0.starts(with: Array("$ORIGIN".utf8)) }
            let begin = kept.last?.startIndex ?? text.endIndex
            guard begin != text.startIndex else { continue }
            for (index, byte) in withUnsafeBytes(of: UInt64(begin - names).littleEndian, Array.init).enumerated() {
                changed[place + index] = byte
            }
            isChanged = true
        }
        return isChanged ? changed : nil
    }

    /// The tags of the dynamic section that are read.
    private enum Tag {
        static let end = 0
        static let names = 5
        static let path = 15
        static let runPath = 29
    }

    /// What is read of a file: its segments. Each place in it is checked, because any file may be packed.
    private struct File {
        let bytes: [UInt8]

        init?(bytes: [UInt8]) {
            guard bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]) else { return nil }
            self.bytes = bytes
        }

        /// Returns a number that fits; nil beyond the file's end.
        func number(at place: Int, bytes count: Int) -> Int? {
            guard place >= 0, place <= bytes.count - count else { return nil }
            return Int(exactly: bytes[place..<place + count].reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
        }

        /// The segments of a type: where they are in memory, and in the file.
        private func segments(_ type: Int) -> [(address: Int, place: Int, size: Int)] {
            guard let table = number(at: 32, bytes: 8), let size = number(at: 54, bytes: 2),
                let count = number(at: 56, bytes: 2), table < bytes.count
            else { return [] }
            return (0..<count).compactMap { index in
                let entry = table + index * size
                guard number(at: entry, bytes: 4) == type, let place = number(at: entry + 8, bytes: 8),
                    let address = number(at: entry + 16, bytes: 8), let size = number(at: entry + 32, bytes: 8),
                    place <= bytes.count, size <= bytes.count - place
                else { return nil }
                return (address, place, size)
            }
        }

        /// Where the dynamic section's entries are.
        var dynamic: Range<Int>? { segments(2).first.map { $0.place..<$0.place + $0.size } }

        /// Where the text of the names begins that the entries refer to.
        func names(_ entries: Range<Int>) -> Int? {
            for entry in stride(from: entries.lowerBound, to: entries.upperBound, by: 16)
            where number(at: entry, bytes: 8) == Tag.names {
                guard let address = number(at: entry + 8, bytes: 8) else { return nil }
                let segment = segments(1).first { address >= $0.address && address - $0.address < $0.size }
                return segment.map { $0.place + address - $0.address }
            }
            return nil
        }
    }
}
