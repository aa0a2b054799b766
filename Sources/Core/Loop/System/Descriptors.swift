public import StrataCore
internal import CUV
internal import Glibc

/// The descriptors of this process.
public enum Descriptors {
    /// Lets this process open as many as its hard limit (RLIMIT_NOFILE) allows.
    /// - Returns: how many those are.
    public static func raiseLimit() -> Int { Int(clamping: strata_raise_descriptor_limit()) }

    /// Gives one up.
    public static func close(_ descriptor: Int32) { Glibc.close(descriptor) }

    /// Whether a program that this process becomes, or starts, has a descriptor too.
    public static func hand(_ descriptor: Int32, on isHandedOn: Bool) throws(SystemError) {
        let status = strata_set_close_on_exec(descriptor, isHandedOn ? 0 : 1)
        guard status == 0 else { throw SystemError(status, "hand descriptor \(descriptor) on") }
    }
}
