extension URLTable<String> {
    /// What a bus has mapped: to each pattern its host and path as one text. What can't
    /// be a mapping is left out.
    /// - Parameter interfaces: the list in the answer of `bus/interfaces`.
    public init(interfaces: [JSON]) {
        self.init()
        for mapped in interfaces.flatMap({ $0["urls"]?.array ?? [] }) {
            guard let host = mapped["host"]?.string, let path = mapped["path"]?.string,
                let pattern = try? URLPattern(path)
            else { continue }
            try? add(pattern, host: host, value: host + path)
        }
    }
}
