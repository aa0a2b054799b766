extension Array {
    /// Returns the index of the first element for which `isBefore` is false, by binary search. The
    /// elements for which it is true must come first.
    @inline(__always)
    package func place(isBefore: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
