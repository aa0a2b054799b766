/// The requests that were made for a call: doubly linked through the calls themselves, newest first.
extension UnsafeMutablePointer<Call> {
    func adopt(_ child: CallPointer) {
        child.pointee.parent = self
        pointee.firstChild.push(child, \.child)
    }

    func leaveParent() {
        pointee.parent?.pointee.firstChild.remove(self, \.child)
        pointee.parent = nil
    }
}

/// The first call of a list that is doubly linked through its calls, newest first.
extension CallPointer? {
    @inline(__always)
    mutating func push(_ call: CallPointer, _ link: WritableKeyPath<Call, Call.Link>) {
        call.pointee[keyPath: link] = Call.Link(previous: nil, next: self)
        self?.pointee[keyPath: link].previous = call
        self = call
    }

    @inline(__always)
    mutating func remove(_ call: CallPointer, _ link: WritableKeyPath<Call, Call.Link>) {
        let removed = call.pointee[keyPath: link]
        if let previous = removed.previous {
            previous.pointee[keyPath: link].next = removed.next
        } else {
            self = removed.next
        }
        removed.next?.pointee[keyPath: link].previous = removed.previous
    }
}
