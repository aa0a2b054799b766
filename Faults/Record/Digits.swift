/// Numbers in a small JSON body, found without parsing it.
public enum Digits {
    /// Returns the first numbers of a text, in order; fewer if there are fewer.
    public static func first(_ count: Int, in bytes: [UInt8]) -> [UInt64] {
        var numbers: [UInt64] = []
        var isInside = false
        for byte in bytes {
            guard byte >= 0x30, byte <= 0x39 else {
                if isInside && numbers.count == count { break }
                isInside = false
                continue
            }
            if isInside {
                numbers[numbers.count - 1] = numbers[numbers.count - 1] &* 10 &+ UInt64(byte - 0x30)
            } else {
                numbers.append(UInt64(byte - 0x30))
                isInside = true
            }
        }
        return numbers
    }

    /// Returns the first number of a text; 0 if there is none.
    public static func first(in bytes: [UInt8]) -> UInt64 {
        var index = 0
        while index < bytes.count, bytes[index] < 0x30 || bytes[index] > 0x39 { index += 1 }
        var number: UInt64 = 0
        while index < bytes.count, bytes[index] >= 0x30, bytes[index] <= 0x39 {
            number = number &* 10 &+ UInt64(bytes[index] - 0x30)
            index += 1
        }
        return number
    }
}
