internal import CUV

/// The descriptors of this process.
public enum Descriptors {
    /// Lets this process open as many as it wants, up to its hard limit.
    /// - Returns: how many it may open now.
    public static func raiseLimit(to wanted: UInt) -> UInt { strata_raise_descriptor_limit(wanted) }
}
