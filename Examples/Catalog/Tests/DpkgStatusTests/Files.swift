import Glibc
import Testing

extension StatusParserTests {
    static func write(_ text: String, to path: String) throws {
        let file = try #require(fopen(path, "w"))
        fputs(text, file)
        fclose(file)
    }

    static func remove(_ path: String) { unlink(path) }
}
