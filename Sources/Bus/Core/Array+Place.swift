extension Array {
    /// Where the first element stands that isn't before something, in an array whose earlier
    /// elements are; found by halves.
    @inline(__always)
    func place(isBefore: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
