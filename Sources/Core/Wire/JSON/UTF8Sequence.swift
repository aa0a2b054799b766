/// Judges UTF-8 byte by byte, as the Unicode standard's table 3-7 does.
enum UTF8Sequence {
    /// The length of the well-formed sequence of two bytes or more at a place;
    /// nil where there is none.
    static func length(at pointer: UnsafePointer<UInt8>, before end: UnsafePointer<UInt8>) -> Int? {
        let left = end - pointer
        func continues(_ index: Int, _ range: ClosedRange<UInt8> = 0x80...0xBF) -> Bool {
            index < left && range.contains(pointer[index])
        }
        switch pointer.pointee {
        case 0xC2...0xDF: return continues(1) ? 2 : nil
        case 0xE0: return continues(1, 0xA0...0xBF) && continues(2) ? 3 : nil
        case 0xE1...0xEC, 0xEE...0xEF: return continues(1) && continues(2) ? 3 : nil
        case 0xED: return continues(1, 0x80...0x9F) && continues(2) ? 3 : nil
        case 0xF0: return continues(1, 0x90...0xBF) && continues(2) && continues(3) ? 4 : nil
        case 0xF1...0xF3: return continues(1) && continues(2) && continues(3) ? 4 : nil
        case 0xF4: return continues(1, 0x80...0x8F) && continues(2) && continues(3) ? 4 : nil
        default: return nil
        }
    }
}
