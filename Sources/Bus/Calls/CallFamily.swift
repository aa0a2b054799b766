/// The requests that were made for a call: doubly linked through the calls themselves, newest first.
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
