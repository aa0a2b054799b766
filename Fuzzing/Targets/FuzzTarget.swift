/// A part of the project that takes bytes from strangers, with what must hold for any bytes.
/// libFuzzer searches for inputs (`scripts/fuzz`), and the tests run the inputs that are kept.
public enum FuzzTarget: String, CaseIterable, Sendable {
    case broker, node, bus, header, frames, manifest, url, json, adapter, contract

    /// Runs one input. Call it on one thread at a time.
    /// - Parameter isAlone: whether nothing else happens in the process, so that its descriptors
    ///   can be counted.
    /// - Throws: a finding. A trap is a finding, too.
    public func run(_ input: UnsafeRawBufferPointer, isAlone: Bool) throws(FuzzFinding) {
        var reader = InputReader(input)
        switch self {
        case .broker: try BrokerTarget.run(&reader, isAlone: isAlone)
        case .node: try NodeTarget.run(&reader)
        case .bus: try BusTarget.run(&reader)
        case .header: try HeaderTarget.run(&reader)
        case .frames: try FramesTarget.run(&reader)
        case .manifest: try ManifestTarget.run(&reader)
        case .url: try URLTarget.run(&reader)
        case .json: try JSONTarget.run(&reader)
        case .adapter: try AdapterTarget.run(&reader)
        case .contract: try ContractTarget.run(&reader)
        }
    }
}
