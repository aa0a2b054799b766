internal import Glibc

/// The process's standard error, without the C library's `stderr`, which Swift
/// 6 takes for shared mutable state.
enum StandardError {
    static func write(_ text: String) {
        var text = text
        text.withUTF8 { _ = Glibc.write(2, $0.baseAddress, $0.count) }
    }
}
