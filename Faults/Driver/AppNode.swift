internal import FaultRecord
internal import FaultSystem
internal import Glibc

/// One node of the app, or the whole app if it has one machine: its files, its launcher, and the
/// driver's connection to its broker.
final class AppNode {
    let index: UInt8
    /// Its name; nil if the app has one machine.
    let name: String?
    let socket: String
    let manifestPath: String
    let output: String
    let link: OperatorLink
    /// Its network; -1 for the machine's.
    let network: Int32
    var manifest: AppManifest
    /// Its launcher; 0 while there is none.
    var launcher: Int32 = 0
    /// The processes of a killed node that have not ended yet.
    var ending: [Int32] = []
    var guests: [Int32] = []
    /// Whether its broker can be replaced.
    var canHandOver = true

    init(_ index: UInt8, _ places: Places, _ placement: RolePlacement, _ server: NATSProcess?, _ networks: Networks?)
        throws
    {
        self.index = index
        name = placement.name(of: index)
        let stem = name ?? "app"
        socket = places.file("\(stem).sock")
        manifestPath = places.file("\(stem).yaml")
        output = places.file("\(stem).log")
        network = networks?.nodes[Int(index)] ?? -1
        link = try OperatorLink(socket)
        manifest = AppManifest(programs: places.programs, placement: placement, server: server)
    }

    /// Words for people that say which node is meant; empty if there is one machine.
    var place: String { name.map { " on \($0)" } ?? "" }
}
