public import CoreMetrics

/// A module: a named part of an app, in a process of its own.
///
///     @main
///     final class PlayerModule: Module {
///         static let name = "Player"
///         private let bus: Bus
///
///         init(bus: Bus) { self.bus = bus }
///
///         func register(_ exports: inout Exports) {
///             exports.action(Player.Play.self, perform: play)
///         }
///
///         private func play(_ request: Player.Play) async throws -> Double { … }
///     }
///
/// All of it runs on `ModuleActor`, the one thread of the module's loop.
@ModuleActor
public protocol Module: AnyObject, SendableMetatype {
    /// Its name on the bus where the launcher gives none.
    static var name: String { get }
    /// The level that it wants to be in; the broker refuses it in another. Nil
    /// leaves that to the app's manifest.
    static var level: String? { get }
    /// Where it and the libraries that it uses tell what they measure, with
    /// swift-metrics. `BusMetrics.shared`, unless it says otherwise: what is kept there
    /// `strata metrics` shows. `NOOPMetricsHandler.instance` measures nothing.
    ///
    /// Asked once, before `init`, and bootstrapped then: a `MetricsSystem.bootstrap`
    /// in `init` or later would be the second one, which ends the process.
    nonisolated static var metrics: any MetricsFactory { get }

    /// Makes the module, once per process, before there is a connection.
    /// `--describe` makes one too: do here only what needs no bus.
    init(bus: Bus) throws

    /// Says what the module offers and declares, once, right after `init`.
    func register(_ exports: inout Exports) throws

    /// The first step of the start: of all modules of the app, earlier levels
    /// first. What it calls must be ready, which at the app's start no eager module
    /// is yet: what needs one belongs in `initialize`.
    func setUp(_ context: Context) async throws
    /// The second step, after every eager module has done the first, and those
    /// before this one have done the second: they are ready.
    func initialize() async throws
    /// All eager modules are ready.
    func didStart() async throws
    /// Under `replace: overlap`: another process has taken over. This one gets no notices
    /// and events any more, and new calls only to instances that were created in it.
    /// `tearDown` comes when this has returned and nothing is open, or after `stop`.
    ///
    /// End here the streams that would go on, and background work that is the other
    /// process's now. What is open at the end gets `replaced`.
    func retiring() async throws
    /// The end. Not called where the start has never begun.
    func tearDown() async throws
    /// The bus was away and is here again: its observations are declared anew,
    /// its instances and its open calls are gone.
    func resumed() async throws
}

extension Module {
    public static var level: String? { nil }
    nonisolated public static var metrics: any MetricsFactory { BusMetrics.shared }
    public func register(_ exports: inout Exports) throws {}
    public func setUp(_ context: Context) async throws {}
    public func initialize() async throws {}
    public func didStart() async throws {}
    public func retiring() async throws {}
    public func tearDown() async throws {}
    public func resumed() async throws {}
}
