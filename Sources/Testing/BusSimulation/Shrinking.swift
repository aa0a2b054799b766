/// Makes a list shorter that fails, so that only what matters is left.
///
/// Delta debugging: parts are left out, ever smaller ones (Zeller and Hildebrandt, 2002).
enum Shrinking {
    /// - Parameter fails: whether a part of the list still fails in the same way.
    /// - Returns: a part of which no single element can be left out.
    static func shortest<Element>(_ all: [Element], _ fails: ([Element]) -> Bool) -> [Element] {
        var kept = all
        var size = max(1, kept.count / 2)
        while true {
            var (start, hasShrunk) = (0, false)
            while start < kept.count {
                let without = Array(kept[..<start] + kept[min(start + size, kept.count)...])
                if fails(without) {
                    kept = without
                    hasShrunk = true
                } else {
                    start += size
                }
            }
            if size == 1, !hasShrunk { return kept }
            if !hasShrunk { size /= 2 }
        }
    }
}
