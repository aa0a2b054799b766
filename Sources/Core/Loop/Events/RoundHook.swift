internal import StrataCore
internal import CUV

/// Calls back once in each round of the loop, after its input was handled and
/// before it waits again: the place where what a round produced is written out.
public final class RoundHook: Handle {
    private var onRound: () -> Void

    public init(_ loop: Loop, onRound: @escaping () -> Void) {
        self.onRound = onRound
        do {
            try super.init(UV_PREPARE, "make a round hook") { memory in
                uv_prepare_init(loop.raw, memory.assumingMemoryBound(to: uv_prepare_t.self))
            }
        } catch {
            preconditionFailure("uv_prepare_init never fails, and did: \(error)")
        }
        // Prepare runs right before the loop polls, after timers, pending
        // callbacks and the last poll's input: whatever queued something this
        // round, and whichever callback did, comes before it.
        uv_prepare_start(memory.assumingMemoryBound(to: uv_prepare_t.self)) { handle in
            let object = Unmanaged<RoundHook>.fromOpaque(handle!.pointee.data)
            object._withUnsafeGuaranteedRef { $0.onRound() }
        }
        keepsLoopRunning(false)
    }

    public override func close() {
        super.close()
        onRound = {}
    }
}
