/// Words for a shell.
enum ShellWord {
    /// Quotes a word, unless no character in it is special to a shell.
    static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty
            && word.utf8.allSatisfy { byte in
                byte >= 0x80 || byte &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "A") < 26
                    || byte &- UInt8(ascii: "0") < 10 || "/._-+=:@%,".utf8.contains(byte)
            }
        return isPlain
            ? word : "'\(word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#))'"
    }
}
