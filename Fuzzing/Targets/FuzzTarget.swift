/// A part of the project that takes bytes from strangers, with what must hold
/// whatever they are. libFuzzer looks for inputs (`scripts/fuzz`); the tests run
/// those that are kept.
public enum FuzzTarget: String, CaseIterable, Sendable {
    case broker, bus, header, frames, manifest, url, json, adapter

    /// Runs one input through it. On one thread at a time.
    /// - Parameter isAlone: nothing else happens in the process, so that its
    ///   descriptors can be counted.
    /// - Throws: what must not be. A trap is a finding, too.
    public func run(_ input: UnsafeRawBufferPointer, isAlone: Bool) throws(FuzzFinding) {
        var reader = InputReader(input)
        switch self {
        case .broker: try BrokerTarget.run(&reader, isAlone: isAlone)
        case .bus: try BusTarget.run(&reader)
        case .header: try HeaderTarget.run(&reader)
        case .frames: try FramesTarget.run(&reader)
        case .manifest: try ManifestTarget.run(&reader)
        case .url: try URLTarget.run(&reader)
        case .json: try JSONTarget.run(&reader)
        case .adapter: try AdapterTarget.run(&reader)
        }
    }
}
