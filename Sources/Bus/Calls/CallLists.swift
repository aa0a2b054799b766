/// The lists that calls are in. Each is doubly linked through the calls
/// themselves, newest first.
extension Peer {
    func addMade(_ call: CallPointer) {
        call.pointee.made = Call.Link(previous: nil, next: firstMade)
        firstMade?.pointee.made.previous = call
        firstMade = call
    }

    func removeMade(_ call: CallPointer) {
        let link = call.pointee.made
        if let previous = link.previous { previous.pointee.made.next = link.next } else { firstMade = link.next }
        link.next?.pointee.made.previous = link.previous
    }

    func addServed(_ call: CallPointer) {
        call.pointee.served = Call.Link(previous: nil, next: firstServed)
        firstServed?.pointee.served.previous = call
        firstServed = call
        servedCount &+= 1
    }

    func removeServed(_ call: CallPointer) {
        servedCount &-= 1
        let link = call.pointee.served
        if let previous = link.previous {
            previous.pointee.served.next = link.next
        } else {
            firstServed = link.next
        }
        link.next?.pointee.served.previous = link.previous
    }
}

extension UnsafeMutablePointer<Call> {
    func adopt(_ child: CallPointer) {
        child.pointee.parent = self
        child.pointee.child = Call.Link(previous: nil, next: pointee.firstChild)
        pointee.firstChild?.pointee.child.previous = child
        pointee.firstChild = child
    }

    func leaveParent() {
        guard let parent = pointee.parent else { return }
        let link = pointee.child
        if let previous = link.previous {
            previous.pointee.child.next = link.next
        } else {
            parent.pointee.firstChild = link.next
        }
        link.next?.pointee.child.previous = link.previous
        pointee.parent = nil
    }
}
