import StrataManifest

extension ModuleProcess {
    /// The manifest's keys by which another row differs, of those that take effect when
    /// a process is started.
    func changes(to other: ModuleProcess) -> [String] {
        var keys: [String] = []
        if run != other.run || executable != other.executable { keys.append("run") }
        if folder != other.folder { keys.append("folder") }
        if user != other.user { keys.append("user") }
        if env != other.env { keys.append("env") }
        if keepEnv != other.keepEnv { keys.append("keepEnv") }
        return keys
    }
}
