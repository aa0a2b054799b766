import Testing

@testable import StrataLauncher

/// How a module's program is asked to describe itself.
struct DescriberTests {
    @Test(
        arguments: [
            (["bin/storage", "moments.sqlite"], []), (["python3", "m.py", "x"], ["m.py"]),
            (["/usr/bin/python3.11", "-X", "dev", "m.py", "-v"], ["-X", "dev", "m.py"]), (["node", "--inspect"], []),
            (["bash", "run.sh"], ["run.sh"]), (["bin/python3-like", "a"], []), ([], []),
            (["/usr/bin/env", "python3", "m.py", "x"], ["python3", "m.py"]), (["env"], []),
            (["env", "-i", "PATH=/x/y", "node", "m.js", "y"], ["-i", "PATH=/x/y", "node", "m.js"]),
            (["/usr/bin/env", "bin/storage", "x"], ["bin/storage"]),
        ] as [([String], [String])])
    func anInterpreterIsToldItsProgram(run: [String], script: [String]) {
        #expect(ModuleDescriber.script(run) == script)
    }
}
