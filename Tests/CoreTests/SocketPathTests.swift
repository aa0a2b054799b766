import Glibc
import StrataCore
import StrataLoop
import Testing

@Suite(.timeLimit(.hang))
struct SocketPathTests {
    @Test(.promise("1.1")) func theDefaultFollowsUserGroupAndRuntimeFolder() {
        func path(_ runtimeFolder: String?, group: Bool = false) -> String {
            SocketPath.standard(app: "moments", hasGroup: group, user: 7, runtimeFolder: runtimeFolder)
        }
        #expect(path("/run/user/7") == "/run/user/7/strata/moments.sock")
        #expect(path("/run/user/7/") == "/run/user/7/strata/moments.sock")
        #expect(path("/run/user/7", group: true) == "/tmp/strata-7-moments/moments.sock")
        for unset in [nil, "", "run"] { #expect(path(unset) == "/tmp/strata-7/moments.sock") }
        for (group, folder) in [(false, "/tmp/strata-7"), (true, "/tmp/strata-7-moments")] {
            let path = SocketPath.standard(app: "moments@berlin", hasGroup: group, user: 7, runtimeFolder: nil)
            #expect(path == "\(folder)/moments@berlin.sock")
        }
        #expect(SocketPath.folder(of: path(nil)) == "/tmp/strata-7")
        #expect(SocketPath.folder(of: "/a.sock") == "/")
        #expect(SocketPath.folder(of: "a.sock") == ".")
    }

    @Test(.promise("1.5")) func aPathOver107BytesIsRefusedSayingSo() throws {
        try SocketPath.check("/" + String(repeating: "a", count: 106))
        let error = #expect(throws: SocketPathError.self) {
            try SocketPath.check("/" + String(repeating: "é", count: 54))
        }
        #expect(error?.message.hasPrefix("has 109 bytes; a socket's path may have 107") == true)
        #expect(throws: SocketPathError.self) { try SocketPath.check("") }
    }

    /// Runs in a new folder, which is removed with its inner folder `f`.
    private func inFolder(_ body: (String) throws -> Void) throws {
        var template = Array("/tmp/strata-test-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let outer = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer {
            for path in ["\(outer)/f", "\(outer)/target"] {
                rmdir(path)
                unlink(path)
            }
            rmdir(outer)
        }
        try body(outer + "/f")
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test(.promise("1.2")) func aFolderIsMadeWithItsMode() throws {
        try inFolder { folder in
            try SocketPath.prepareFolder(folder, group: nil)
            #expect(mode(folder) == 0o700)
            try SocketPath.prepareFolder(folder, group: nil)
        }
        try inFolder { folder in
            try SocketPath.prepareFolder(folder, group: getegid())
            #expect(mode(folder) == 0o710)
            try SocketPath.prepareFolder(folder, group: getegid())
            // A mode that lets a group in is too wide for an app without a group.
            #expect(throws: SocketPathError.self) { try SocketPath.prepareFolder(folder, group: nil) }
        }
    }

    @Test(.promise("1.3"), arguments: [0o701, 0o750, 0o720, 0o777, 0o1700] as [mode_t])
    func aWiderModeIsRefused(_ mode: mode_t) throws {
        try inFolder { folder in
            mkdir(folder, 0o700)
            chmod(folder, mode)
            #expect(throws: SocketPathError.self) { try SocketPath.prepareFolder(folder, group: getegid()) }
            #expect(self.mode(folder) == mode)
        }
    }

    @Test(.promise("1.3")) func aLinkAFileAndAnothersFolderAreRefused() throws {
        try inFolder { folder in
            mkdir(SocketPath.folder(of: folder) + "/target", 0o700)
            symlink("target", folder)
            #expect(throws: SocketPathError.self) { try SocketPath.prepareFolder(folder, group: nil) }
        }
        try inFolder { folder in
            close(open(folder, O_CREAT | O_WRONLY, 0o700))
            #expect(throws: SocketPathError.self) { try SocketPath.prepareFolder(folder, group: nil) }
        }
        if geteuid() == 0 {
            try inFolder { folder in
                mkdir(folder, 0o700)
                chown(folder, 65534, 65534)
                let error = #expect(throws: SocketPathError.self) {
                    try SocketPath.prepareFolder(folder, group: nil)
                }
                #expect(error?.message.hasPrefix("belongs to user 65534") == true)
            }
        }
        #expect(throws: SocketPathError.self) {
            try SocketPath.prepareFolder("/nowhere/at/all", group: nil)
        }
    }
}
