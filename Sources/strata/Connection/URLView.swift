import StrataCore
import StrataOperator

/// What a bus has mapped, for a URL: which pattern takes it, what its action would
/// be called with, and else what is in the way.
///
/// The bus itself is asked whether the URL can be opened. This looks at the same
/// mappings by the bus's own code, and says more.
struct URLView {
    /// `host/path` of the pattern that matches.
    private(set) var pattern: String?
    /// The body of the call that the open would become: JSON.
    private(set) var params: [UInt8]?
    /// Why nothing matches.
    private(set) var problem: BusURLError?

    /// - Parameters:
    ///   - interfaces: the bus's.
    ///   - schemes: the app's.
    init(_ url: String, interfaces: [InterfaceRow], schemes: [String]) {
        do throws(BusURLError) {
            let match = try interfaces.urlTable.resolve(try BusURL(url), schemes: schemes)
            (pattern, params) = (match.value, match.body())
        } catch {
            problem = error
        }
    }
}
