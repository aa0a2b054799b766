import StrataCore

/// What a broker may be replaced with while it runs: its program executed anew,
/// in place (`NextProgram`).
public protocol NextBroker: AnyObject {
    /// Lets the next one show that it understands a state, while this one goes on.
    /// - Parameters:
    ///   - state: a sealed file, whose descriptor is the callee's to close.
    ///   - answer: what one that has understood it says, exactly.
    ///   - then: called once, on the loop's thread: nil, or why it doesn't.
    func tryOut(_ state: Int32, expecting answer: [UInt8], then: @escaping (String?) -> Void)

    /// Becomes the next one.
    /// - Parameters:
    ///   - state: a sealed file; closed by the callee where it returns.
    ///   - descriptors: what must stay open.
    ///   - letGo: leaves all of them to another broker of this process.
    /// - Returns: why it could not be; nil where another broker goes on here.
    func become(_ state: Int32, keeping descriptors: [Int32], letGo: () -> Void) -> String?
}
