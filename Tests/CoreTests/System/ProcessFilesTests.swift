import Glibc
import Testing

@testable import StrataLoop

struct ProcessFilesTests {
    /// An empty file of children says that there are none, whatever failed before. A process without
    /// this file is looked for among all others.
    @Test func anEmptyFileIsNoProcessThatHasEnded() {
        errno = ESRCH
        #expect(ProcessFiles.text(of: "/dev/null") == "")
        #expect(ProcessFiles.text(of: "/proc/0/stat") == nil)
    }
}
