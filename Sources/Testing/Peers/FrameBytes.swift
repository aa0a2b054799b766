public import StrataCore

/// Frames as bytes, made without the code under test.
public enum FrameBytes {
    /// A whole frame.
    public static func frame(_ header: [UInt8], body: [UInt8] = []) -> [UInt8] {
        lengths(frame: UInt32(4 + header.count + body.count), header: UInt32(header.count)) + header + body
    }

    /// A whole frame, of values.
    public static func frame(_ header: JSON, body: JSON? = nil) -> [UInt8] {
        frame(header.bytes, body: body?.bytes ?? [])
    }

    /// A frame's first eight bytes, true or not.
    public static func lengths(frame: UInt32, header: UInt32) -> [UInt8] {
        bigEndian(frame) + bigEndian(header)
    }

    static func bigEndian(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    static func integer(_ bytes: [UInt8], at offset: Int) -> Int {
        Int(bytes[offset]) << 24 | Int(bytes[offset + 1]) << 16 | Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
    }
}
