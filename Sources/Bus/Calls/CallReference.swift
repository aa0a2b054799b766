/// An open call that somebody comes back to: its slot may be another call's by
/// then.
struct CallReference {
    let call: CallPointer
    let generation: UInt32

    init(_ call: CallPointer) {
        self.call = call
        generation = call.pointee.generation
    }

    init(_ call: CallPointer, generation: UInt32) {
        self.call = call
        self.generation = generation
    }

    /// Whether it is still the call that it was.
    var isOpen: Bool { call.pointee.state != .free && call.pointee.generation == generation }
}
