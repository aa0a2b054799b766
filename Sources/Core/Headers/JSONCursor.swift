/// A place in JSON's bytes; a word behind their end can be read.
struct JSONCursor {
    let base: UnsafePointer<UInt8>
    let end: UnsafePointer<UInt8>
    var pointer: UnsafePointer<UInt8>

    @inline(__always)
    init(base: UnsafePointer<UInt8>, count: Int) {
        self.base = base
        end = base + count
        pointer = base
    }

    @inline(__always) var position: Int { pointer - base }
    @inline(__always) var isAtEnd: Bool { pointer == end }

    /// The next byte; 0, which stands nowhere in JSON, at the end.
    @inline(__always)
    func peek() -> UInt8 { pointer < end ? pointer.pointee : 0 }

    @inline(__always)
    mutating func take(_ byte: UInt8) -> Bool {
        guard pointer < end, pointer.pointee == byte else { return false }
        pointer += 1
        return true
    }

    @inline(__always)
    mutating func skipSpace() {
        while pointer < end {
            switch pointer.pointee {
            case 0x20, 0x0A, 0x0D, 0x09: pointer += 1
            default: return
            }
        }
    }

    func error(_ reason: String) -> HeaderError { HeaderError(reason, at: position) }

    /// Passes the bytes of a string that need no look: up to a quote, a
    /// backslash, a control character, a byte over 0x7F, or the end.
    @inline(__always)
    mutating func passPlain() {
        while true {
            let word = UInt64(littleEndian: UnsafeRawPointer(pointer).loadUnaligned(as: UInt64.self))
            let special = Self.specialBytes(word)
            if special == 0 {
                pointer += 8
                if pointer >= end {
                    pointer = end
                    return
                }
                continue
            }
            pointer += special.trailingZeroBitCount >> 3
            if pointer > end { pointer = end }
            return
        }
    }

    /// The high bit of each byte that is a quote, a backslash, a control
    /// character or not ASCII; above the first such byte there may be others
    /// set by a borrow. (Lamport's and Mycroft's word tricks.)
    @inline(__always)
    static func specialBytes(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        let quote = word ^ (ones &* 0x22)
        let backslash = word ^ (ones &* 0x5C)
        let control = (word &- ones &* 0x20) & ~word
        let equal = ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash)
        return (control | equal | word) & highs
    }
}
