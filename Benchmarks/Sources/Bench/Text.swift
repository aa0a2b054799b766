internal import Glibc

extension String {
    /// With spaces behind it, so that it takes so many columns.
    func padded(_ columns: Int) -> String {
        count >= columns ? self : self + String(repeating: " ", count: columns - count)
    }
}

extension Double {
    func rounded(toPlaces places: Int) -> Double {
        let scale = pow(10, Double(places))
        return (self * scale).rounded() / scale
    }
}
