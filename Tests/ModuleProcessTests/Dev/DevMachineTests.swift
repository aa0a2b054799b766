import TestSupport
import Testing

@testable import StrataLauncher

@Suite(.timeLimit(.hang))
struct DevMachineTests {
    private typealias Changes = DevMachine.Changes

    /// One whose app runs.
    private func running() -> DevMachine {
        var machine = DevMachine()
        #expect(machine.changed(Changes(manifest: true, sources: true)) == [.read])
        #expect(machine.read(ok: true, hasPackage: true) == [.build])
        #expect(machine.built(ok: true, rows: []) == [.start])
        return machine
    }

    @Test(.promise("M.159")) func aBuildRestartsTheRowsWhoseProgramItChanged() {
        var machine = running()
        #expect(machine.changed(Changes(sources: true)) == [.build])
        #expect(machine.built(ok: true, rows: ["A"]) == [.restart(["A"])])
        #expect(machine.changed(Changes(sources: true)) == [.build])
        #expect(machine.built(ok: true, rows: []).isEmpty)
    }

    @Test(.promise("M.159")) func scriptsAndTheManifestNeedNoBuild() {
        var machine = running()
        #expect(machine.changed(Changes(rows: ["B"])) == [.restart(["B"])])
        #expect(machine.changed(Changes(manifest: true)) == [.read])
        #expect(machine.read(ok: true, hasPackage: true) == [.reload])
        var scripts = DevMachine()
        #expect(scripts.changed(Changes(manifest: true, sources: true)) == [.read])
        #expect(scripts.read(ok: true, hasPackage: false) == [.start])
    }

    /// The new manifest may name what is only now built, so it comes into force after the build.
    @Test(.promise("M.159")) func theManifestIsReloadedAfterTheBuildAndBeforeRestarts() {
        var machine = running()
        #expect(machine.changed(Changes(manifest: true, sources: true, rows: ["B"])) == [.read])
        #expect(machine.read(ok: true, hasPackage: true) == [.build])
        #expect(machine.built(ok: true, rows: ["A"]) == [.reload, .restart(["A", "B"])])
    }

    @Test(.promise("M.160")) func aFailureLeavesTheAppAsItIs() {
        var machine = running()
        #expect(machine.changed(Changes(sources: true)) == [.build])
        #expect(machine.built(ok: false, rows: []).isEmpty)
        #expect(machine.changed(Changes(manifest: true)) == [.read])
        #expect(machine.read(ok: false, hasPackage: true).isEmpty)
        #expect(machine.changed(Changes(manifest: true, rows: ["B"])) == [.read])
        #expect(machine.read(ok: false, hasPackage: true) == [.restart(["B"])])
    }

    @Test(.promise("M.160")) func withoutAnAppEachChangeTriesTheStartAgain() {
        var machine = DevMachine()
        #expect(machine.changed(Changes(manifest: true, sources: true)) == [.read])
        #expect(machine.read(ok: false, hasPackage: false).isEmpty)
        #expect(machine.changed(Changes(rows: ["B"])) == [.read])
        #expect(machine.read(ok: true, hasPackage: true) == [.build])
        #expect(machine.built(ok: false, rows: []).isEmpty)
        #expect(machine.changed(Changes(sources: true)) == [.read])
        #expect(machine.read(ok: true, hasPackage: true) == [.build])
        #expect(machine.built(ok: true, rows: ["A"]) == [.start])
        machine.appEnded()
        #expect(machine.changed(Changes(manifest: true)) == [.read])
    }

    @Test(.promise("M.159")) func whatChangesDuringABuildComesAfterIt() {
        var machine = running()
        #expect(machine.changed(Changes(sources: true)) == [.build])
        #expect(machine.changed(Changes(sources: true)).isEmpty)
        #expect(machine.changed(Changes(rows: ["B"])).isEmpty)
        #expect(machine.built(ok: true, rows: ["A"]) == [.restart(["A"]), .build])
        #expect(machine.built(ok: true, rows: []) == [.restart(["B"])])
    }
}
