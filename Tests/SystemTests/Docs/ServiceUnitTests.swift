import Foundation
import Glibc
import StrataTesting
import TestSupport
import Testing

/// The units of packaging/systemd, as far as they can be checked without a running systemd.
@Suite(.timeLimit(.hang))
struct ServiceUnitTests {
    private static let units = ["strata@.service", "strata@.socket"]
    /// systemd's own tools need no running systemd for these checks.
    private static let hasTools = ["systemd-analyze", "systemctl"].allSatisfy { access("/usr/bin/\($0)", X_OK) == 0 }

    /// Returns a folder as the root for units. It has the page's units, with the built program.
    private func root(_ folder: TemporaryFolder) throws -> String {
        let units = folder.path + "/etc/systemd/system"
        // A unit's command ends at a space, and a clone's path may have one.
        let program = folder.path + "/strata"
        try FileManager.default.createSymbolicLink(atPath: program, withDestinationPath: CommandRun.executable.path)
        try FileManager.default.createDirectory(atPath: units, withIntermediateDirectories: true)
        for unit in Self.units {
            let text = try Repository.text("packaging/systemd/\(unit)")
                .replacing("/usr/bin/strata", with: program)
            _ = try folder.file("etc/systemd/system/\(unit)", text)
        }
        return units
    }

    @Test(.promise("M.89"), .enabled(if: hasTools)) func systemdFindsNothingWrongInTheUnits() throws {
        let folder = try TemporaryFolder()
        let units = try root(folder)
        var files: [String] = []
        // Templates are read as units of an app.
        for unit in Self.units {
            files.append(units + "/" + unit.replacing("@", with: "@shop"))
            try FileManager.default.copyItem(atPath: "\(units)/\(unit)", toPath: files[files.count - 1])
        }
        let verify = try ChildProgram("/usr/bin/systemd-analyze", ["verify", "--man=no"] + files)
        let end = try verify.wait()
        // It may report findings about the machine's other units, too.
        let findings = verify.outputText.split(separator: "\n").filter { $0.contains("strata@") }
        #expect(end == .exit(0) && findings.isEmpty, "\(verify.outputText)")
    }

    @Test(.promise("M.89"), .enabled(if: hasTools)) func theUnitsOfAnAppCanBeEnabled() throws {
        let folder = try TemporaryFolder()
        let units = try root(folder)
        let enable = try ChildProgram(
            "/usr/bin/systemctl", ["--root=\(folder.path)", "enable", "strata@shop.socket", "strata@shop.service"])
        let end = try enable.wait()
        #expect(end == .exit(0), "\(enable.outputText)")
        for link in ["sockets.target.wants/strata@shop.socket", "multi-user.target.wants/strata@shop.service"] {
            let unit = try FileManager.default.destinationOfSymbolicLink(atPath: "\(units)/\(link)")
            #expect(Self.units.contains { unit == "/etc/systemd/system/\($0)" }, "\(link) leads to \(unit)")
        }
    }

    /// The commands on the page agree with the units.
    @Test func thePageNamesTheUnitsFolderAndSocket() throws {
        let page = try Repository.text("docs/operations.md")
        func value(_ key: String, _ unit: String) throws -> String {
            let line = try Repository.lines("packaging/systemd/\(unit)").first { $0.hasPrefix(key + "=") }
            return String(try #require(line).dropFirst(key.count + 1)).replacing("%i", with: "APP")
        }
        let socket = try value("ListenStream", "strata@.socket")
        #expect(page.contains("STRATA_SOCKET=\(socket) strata ps"))
        #expect(try value("ExecStart", "strata@.service") == "/usr/bin/strata up /etc/strata/APP/strata.yaml")
        #expect(page.contains("`/etc/strata/APP`") && page.contains("`/usr/bin/strata`"))
    }
}
