"""The samples of the client's page: the first one runs, the others are Python."""

import ast
import re
import unittest

from support import CLIENT, BusCase, within

PAGE = (CLIENT / "README.md").read_text()


def samples(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


class ReadmeTests(BusCase):
    manifest = samples("yaml")[0]

    async def test_the_first_sample_says_what_the_page_says(self) -> None:
        (self.folder / "strata.yaml").write_text(re.sub(r"run: .*", "start: manual", self.manifest))
        await self.end_broker()
        await self.start_broker()
        self.process(samples("python")[0])
        await self.until("Greeter", "ready")
        tool = await self.tool()
        said = re.search(r"strata call Greeter/hello .*\n    \"(.*)\"", PAGE)
        assert said is not None
        self.assertEqual(await within(tool.call("Greeter/hello", {"who": "Ada"})), said[1])
        self.assertEqual(await within(tool.open("greet://greeter/hello/Ada")), said[1].replace("1", "2"))


class SampleTests(unittest.TestCase):
    def test_all_samples_are_python(self) -> None:
        found = samples("python")
        self.assertGreater(len(found), 8)
        for sample in found:
            compile(sample, "README.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
