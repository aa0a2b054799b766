import Glibc
import StrataTesting
import TestSupport
import Testing

@testable import StrataCore
@testable import StrataLoop

/// A file that is no program isn't passed to a shell.
struct ProgramFileTests {
    private func isProgram(_ bytes: [UInt8]) throws -> Bool {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = "\(folder.path)/program"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o755)
        #expect(write(descriptor, bytes, bytes.count) == bytes.count)
        close(descriptor)
        return ProgramFile.isProgram(path)
    }

    @Test func elfFilesAndScriptsArePrograms() throws {
        #expect(ProgramFile.isProgram("/bin/sh"))
        #expect(try isProgram(Array("#!/bin/sh\n".utf8)))
    }

    @Test(.promise("10.30")) func otherFilesAreNone() throws {
        var generator = SeededGenerator(3)
        for _ in 0..<50 {
            var noise = (0..<200).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            noise[0] = 1
            #expect(try !isProgram(noise))
        }
        for text in ["", "#", "echo hello\n", "\u{7F}EL"] { #expect(try !isProgram(Array(text.utf8)), "\(text)") }
    }

    /// As a copy looks while it is being written.
    @Test func anElfFileWithoutItsProgramHeadersIsNone() throws {
        let descriptor = open("/bin/sh", O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        var head = [UInt8](repeating: 0, count: 4_096)
        #expect(read(descriptor, &head, head.count) == head.count)
        #expect(try isProgram(head))
        for count in [4, 5, 6, 20, 52, 63, 64, 100] { #expect(try !isProgram(Array(head[..<count])), "\(count)") }
        var none = head
        none.replaceSubrange(56..<58, with: [0, 0])
        #expect(try !isProgram(none))
        head.replaceSubrange(32..<40, with: [UInt8](repeating: 0xFF, count: 8))
        #expect(try !isProgram(head))
    }

    /// Executing such a file reports the reason.
    @Test func whatCanNotBeReadIsLeftToTheKernel() throws {
        #expect(ProgramFile.isProgram("/nowhere/program"))
        #expect(ProgramFile.isProgram("/tmp"))
    }

    @Test(.promise("10.30")) func anotherFileOrAChangedOneHasAnotherIdentity() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (path, other) = ("\(folder.path)/program", "\(folder.path)/other")
        for path in [path, other] { close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o755)) }
        let first = try #require(ProgramFile.Identity(path))
        #expect(ProgramFile.Identity(path) == first)
        #expect(rename(other, path) == 0)
        #expect(ProgramFile.Identity(path) != first)
        #expect(ProgramFile.Identity(other) == nil)
    }
}
