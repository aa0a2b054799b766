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
    /// The module's name on the bus, unless the launcher gives it one.
    static var name: String { get }
    /// The level that the module requires; the broker refuses it in any other level. Nil leaves the
    /// level to the app's manifest.
    static var level: String? { get }
    /// The factory that receives the swift-metrics metrics of the module and of its libraries. The
    /// default is `BusMetrics.shared`, which `strata metrics` reads. `NOOPMetricsHandler.instance`
    /// measures nothing.
    ///
    /// It is read once, before `init`, and bootstrapped then. A `MetricsSystem.bootstrap` in `init`
    /// or later would be the second one, which ends the process.
    nonisolated static var metrics: any MetricsFactory { get }

    /// Creates the module, once per process, before it connects. `--describe` creates one too, so
    /// do only what needs no bus.
    init(bus: Bus) throws

    /// Fills in what the module offers and declares. Called once, right after `init`.
    func register(_ exports: inout Exports) throws

    /// The first step of the start. It runs for all modules of the app, earlier levels first.
    ///
    /// It may only call modules that are ready. At the app's start, no eager module is ready yet:
    /// do what needs one in `initialize`.
    func setUp(_ context: Context) async throws
    /// The second step of the start. It runs after every eager module has finished the first step,
    /// and after the modules before this one have finished the second: those are ready.
    func initialize() async throws
    /// Called when all eager modules are ready.
    func didStart() async throws
    /// Called under `replace: overlap` when another process has taken over.
    ///
    /// This process receives no more notices and events, and new calls only for instances that were
    /// created in it. `tearDown` follows when this has returned and nothing is open, or after
    /// `stop`.
    ///
    /// End streams here that would otherwise continue, and background work that the other process
    /// now does. What is still open at the end fails with `replaced`.
    func retiring() async throws
    /// Called at the end, unless the start has never begun.
    func tearDown() async throws
    /// Called when the module is connected to the bus again. Its observations are declared again;
    /// its instances have ended, and its open calls have failed.
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
