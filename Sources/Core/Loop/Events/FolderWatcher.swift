internal import CUV
public import StrataCore

/// Reports what changes in one folder, not in the folders below it (`uv_fs_event`, inotify).
///
/// A report is only a hint: several changes may come as one, and a change of a file that is a link to another
/// folder isn't seen. Whoever gets one looks at the folder anew.
public final class FolderWatcher: Handle {
    private var onChange: (String) -> Void

    /// Begins to watch.
    /// - Parameter onChange: called on the loop's thread with the name of what was made, changed or removed.
    /// - Throws: ENOSPC if the user has no watch left (fs.inotify.max_user_watches), or why the folder can't be read.
    public init(_ loop: Loop, _ path: String, onChange: @escaping (String) -> Void) throws(SystemError) {
        self.onChange = onChange
        try super.init(UV_FS_EVENT, "watch \(path)") { memory in
            uv_fs_event_init(loop.raw, memory.assumingMemoryBound(to: uv_fs_event_t.self))
        }
        let status = uv_fs_event_start(
            memory.assumingMemoryBound(to: uv_fs_event_t.self),
            { handle, name, _, _ in
                guard let name else { return }
                let object = Unmanaged<FolderWatcher>.fromOpaque(handle!.pointee.data)
                object._withUnsafeGuaranteedRef { $0.onChange(String(cString: name)) }
            }, path, 0)
        guard status == 0 else {
            close()
            throw SystemError(status, "watch \(path)")
        }
    }

    public override func close() {
        super.close()
        onChange = { _ in }
    }
}
