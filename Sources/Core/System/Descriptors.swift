internal import CUV

/// The descriptors of this process.
public enum Descriptors {
    /// Lets this process open as many as it wants, up to its hard limit.
    /// - Returns: how many it may open now.
    public static func raiseLimit(to wanted: UInt) -> UInt { strata_raise_descriptor_limit(wanted) }

    /// Whether a program that this process becomes, or starts, has a descriptor too.
    public static func hand(_ descriptor: Int32, on isHandedOn: Bool) throws(SystemError) {
        let status = strata_set_close_on_exec(descriptor, isHandedOn ? 0 : 1)
        guard status == 0 else { throw SystemError(status, "hand descriptor \(descriptor) on") }
    }
}
