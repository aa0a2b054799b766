import StrataManifest

/// The files of an app in Python that `strata new --python` makes.
struct PythonTemplate {
    let names: PackageNames
    /// The package `strata_bus` as one file.
    let client: String

    var files: [NewFile] {
        [
            NewFile(path: "strata.yaml", text: manifest),
            PackageTemplate.schema,
            NewFile(path: "README.md", text: readme),
            NewFile(path: "\(provider).py", text: providerModule, isProgram: true),
            NewFile(path: "\(caller).py", text: callerModule, isProgram: true),
            NewFile(path: "test_\(provider).py", text: tests),
            NewFile(path: "strata_bus.py", text: client),
            NewFile(path: ".gitignore", text: "__pycache__/\n"),
        ]
    }

    /// The names of the files, which Python imports.
    private var provider: String { names.provider.lowercased() }
    private var caller: String { names.caller.lowercased() }

    private var manifest: String {
        PackageTemplate.manifest(names, provider: "\(provider).py", caller: "\(caller).py")
    }

    private var providerModule: String {
        """
        #!/usr/bin/env python3
        \"""Greets, and counts its greetings.\"""

        import strata_bus

        module = strata_bus.Module("\(names.provider)")
        module.broadcasts("\(provider).greeted")
        count = 0  # no lock: all of a module's code runs on one thread


        @module.action("\(names.provider)/greet")
        def greet(call: strata_bus.Call) -> dict[str, object]:
            global count
            who = call.params["who"]
            if not who:
                raise strata_bus.BusError("\(names.provider).nobody", "who is empty; give a name to greet")
            count += 1
            module.broadcast("\(provider).greeted", {"who": who})
            return {"text": f"Hello, {who}.", "count": count}


        module.url("\(provider)", "/greet/:who", to="\(names.provider)/greet")

        if __name__ == "__main__":
            module.main()

        """
    }

    private var callerModule: String {
        """
        #!/usr/bin/env python3
        \"""Asks \(names.provider) for greetings, and remembers the last ten broadcasts of them.\"""

        import strata_bus

        module = strata_bus.Module("\(names.caller)")
        module.requires("\(names.provider)")
        seen: list[str] = []


        @module.observe("\(provider).greeted")
        def greeted(notice: strata_bus.Notice) -> None:
            seen.append(notice.params["who"])
            del seen[:-10]


        @module.action("\(names.caller)/visit")
        async def visit(call: strata_bus.Call) -> object:
            return await module.call("\(names.provider)/greet", {"who": call.params.get("who", "World")})


        @module.action("\(names.caller)/seen")
        def shown(call: strata_bus.Call) -> list[str]:
            return seen


        if __name__ == "__main__":
            module.main()

        """
    }

    private var tests: String {
        """
        \"""Tests of \(names.provider) on a bus that strata test makes. They play \(names.caller):

            strata test strata.yaml --play \(names.caller) -- python3 -m unittest
        \"""

        import asyncio
        import unittest

        import strata_bus


        class \(names.provider)Tests(unittest.IsolatedAsyncioTestCase):
            async def asyncSetUp(self) -> None:
                # Both find the bus in STRATA_SOCKET.
                self.tool = await self.enterAsyncContext(strata_bus.Operator())
                self.greetings: asyncio.Queue[object] = asyncio.Queue()
                caller = strata_bus.Module("\(names.caller)")
                caller.any_action("\(names.caller)")(lambda call: None)
                caller.observe("\(provider).greeted")(lambda notice: self.greetings.put_nowait(notice.params))
                await caller.connect()
                self.addAsyncCleanup(caller.close)

            async def test_greeting_is_answered_and_broadcast(self) -> None:
                reply = await self.tool.call("\(names.provider)/greet", {"who": "Ada"})
                self.assertEqual(reply["text"], "Hello, Ada.")
                self.assertEqual(await asyncio.wait_for(self.greetings.get(), 120), {"who": "Ada"})

            async def test_empty_name_is_refused(self) -> None:
                with self.assertRaises(strata_bus.BusError) as raised:
                    await self.tool.call("\(names.provider)/greet", {"who": ""})
                self.assertEqual(raised.exception.code, "\(names.provider).nobody")


        if __name__ == "__main__":
            unittest.main()

        """
    }

    private var readme: String {
        """
        # \(names.app)

        Two modules, each a process, on one bus: \(names.provider) greets and broadcasts it, \(names.caller) asks
        for greetings and remembers them.

            strata up             runs the app until ctrl-C

        In another terminal:

            strata ps
            strata call \(names.caller)/visit '{"who": "Ada"}'
            strata open \(names.app)://\(provider)/greet/Bo
            strata call \(names.caller)/seen

        | where | what |
        |---|---|
        | strata.yaml | the modules, their levels, and what each may do |
        | \(ManifestSchema.file) | what strata.yaml may say, for editors |
        | \(provider).py, \(caller).py | the modules |
        | test_\(provider).py | tests: `strata test strata.yaml --play \(names.caller) -- python3 -m unittest` |
        | strata_bus.py | strata's client for Python, a copy |

        """
    }
}
