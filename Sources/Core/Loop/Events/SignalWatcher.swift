public import StrataCore
internal import CUV

/// Calls back, on the loop's thread, for each time that a signal came.
public final class SignalWatcher: Handle {
    private var onSignal: () -> Void

    public init(_ loop: Loop, signal: Int32, onSignal: @escaping () -> Void) throws(SystemError) {
        self.onSignal = onSignal
        try super.init(UV_SIGNAL, "watch a signal") { memory in
            uv_signal_init(loop.raw, memory.assumingMemoryBound(to: uv_signal_t.self))
        }
        let status = uv_signal_start(
            memory.assumingMemoryBound(to: uv_signal_t.self),
            { handle, _ in
                let object = Unmanaged<SignalWatcher>.fromOpaque(handle!.pointee.data)
                object._withUnsafeGuaranteedRef { $0.onSignal() }
            }, signal)
        guard status == 0 else {
            close()
            throw SystemError(status, "watch signal \(signal)")
        }
    }

    public override func close() {
        super.close()
        onSignal = {}
    }
}
