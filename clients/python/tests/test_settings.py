"""The settings that a module declares: their contract, which is that of the Swift twin, and their values."""

import asyncio
import dataclasses
import enum
import unittest
import uuid
from dataclasses import dataclass
from typing import Annotated, Any

from support import CLIENT, BusCase, strata_bus, within
from strata_bus import Range, Secret, Setting
from strata_bus.contracts import contract_text, read_contract
from strata_bus.hello import divided


@dataclass
class ShopSettings:
    """The twin of `ShopSettings` in Tests/DerivingTests/SettingsTests.swift."""

    class Order(enum.Enum):
        name = "name"
        price = "price"

    @dataclass
    class Window:
        # `from` is a word of Python.
        start: Annotated[int, strata_bus.WireName("from")]
        to: int | None = None

    page: int = Setting("shop.page", default=20)
    title: str = Setting("shop.title")
    rate: float = Setting("shop.rate", default=0.5)
    order: Order = Setting("shop.order", default=Order.name)
    folders: list[str] = Setting("shop.folders", default=["a", "b"])
    window: Window | None = Setting("shop.window", default=None)
    most: Annotated[int, Range(0, 255)] | None = Setting("shop.most", default=5)
    key: Secret[str] = Setting("shop.key")
    token: Secret[uuid.UUID] | None = Setting("shop.token", default=None)


@dataclass
class ShelfSettings:
    page: int = dataclasses.field(default=20, metadata={"setting": "shelf.page"})
    order: ShopSettings.Order = Setting("shelf.order", default=ShopSettings.Order.name)
    title: str = Setting("shelf.title")
    """What stands above it."""
    key: Secret[str] | None = Setting("shelf.key", default=None)
    pin: str | None = Setting("shelf.pin", default=None, secret=True)


def shelf() -> strata_bus.Settings[ShelfSettings]:
    settings = strata_bus.Settings(ShelfSettings)
    settings.prepare()
    return settings


class DeclaringTests(unittest.TestCase):
    def test_settings_have_the_document_of_the_swift_twin(self) -> None:
        module = strata_bus.Module("Shop")
        module.settings(ShopSettings)
        kept = (CLIENT.parents[1] / "Tests/DerivingTests/Settings/shop.json").read_text()
        self.assertEqual(contract_text(read_contract(module.contracts()["module"])), kept)

    def test_hello_lists_the_keys_and_marks_secrets(self) -> None:
        module = strata_bus.Module("Shelf")
        module.settings(ShelfSettings)
        module._prepare()
        keys = [
            "shelf.page", "shelf.order", "shelf.title", {"name": "shelf.key", "secret": True},
            {"name": "shelf.pin", "secret": True},
        ]  # fmt: skip
        self.assertEqual(module.describe()["settings"], keys)
        properties = module.contracts()["module"]["settings"]["properties"]
        self.assertEqual(properties["shelf.title"]["description"], "What stands above it.")
        self.assertEqual(properties["shelf.pin"]["writeOnly"], True)
        self.assertNotIn("settings", strata_bus.Module("Plain").describe())

    def test_a_module_without_any_settings_of_its_own_may_say_so(self) -> None:
        @dataclass
        class Nothing:
            pass

        module = strata_bus.Module("Shelf")
        module.settings(Nothing)
        self.assertEqual(module.describe()["settings"], [])

    def test_keys_stay_in_hellos_first_part(self) -> None:
        parts = divided({"module": "A", "broadcasts": ["n" * 250] * 600, "settings": ["a", {"name": "b"}]})
        self.assertGreater(len(parts), 1)
        self.assertEqual([part.get("settings") for part in parts], [["a", {"name": "b"}]] + [None] * (len(parts) - 1))

    def test_what_can_not_be_declared_is_refused_with_what_to_do(self) -> None:
        @dataclass
        class Wrong:
            page: int = Setting("page", default="x")

        @dataclass
        class Shown:
            key: Secret[str] = Setting("key", default=Secret("abcd"))

        @dataclass
        class Marked:
            key: str = Setting("key", default="abcd", secret=True)

        @dataclass
        class Number:
            pin: Secret[int] = Setting("pin")

        @dataclass
        class Listed:
            keys: list[Secret[str]] = Setting("keys")

        @dataclass
        class Long:
            page: int = Setting("k" * 257)

        shown = ".key: a secret has a default, which its contract would show: make the setting required, or say None"
        refused: dict[Any, str] = {
            Wrong: '.page: its default isn\'t what the setting takes ($: expected an integer, found the string "x")',
            Shown: shown,
            Marked: shown,
            Number: ".pin: a secret is a string, and this one is of another type: say Secret[str]",
            Listed: ".keys: a secret is in the value of a setting: make it a setting of its own",
            Long: ": a module has at most 1024 settings, with keys of 1 to 256 bytes and 32768 bytes in all: declare "
            "fewer, or with shorter keys",
            int: "int: settings are a dataclass with a field for each setting",
        }
        for type, message in refused.items():
            with self.subTest(type.__name__):
                module = strata_bus.Module("Shelf")
                module.settings(type)
                with self.assertRaises(TypeError) as raised:
                    module._prepare()
                self.assertTrue(str(raised.exception).endswith(message), str(raised.exception))
                self.assertNotIn("abcd", str(raised.exception))

    def test_settings_are_declared_once_and_before_their_handler_counts(self) -> None:
        module = strata_bus.Module("Shelf")
        module.settings_changed(lambda new: None)
        with self.assertRaisesRegex(TypeError, "declare them by module.settings"):
            module._prepare()
        module.settings(ShelfSettings)
        module._prepare()
        with self.assertRaisesRegex(ValueError, "declared already"):
            module.settings(ShelfSettings)


class SecretTests(unittest.TestCase):
    def test_a_secret_is_never_shown(self) -> None:
        secret = Secret("abcd")
        for text in (str(secret), repr(secret), f"{secret}", repr(ShelfSettings(title="a", key=secret))):
            self.assertIn("‹secret›", text)
            self.assertNotIn("abcd", text)
        self.assertEqual(secret.value, "abcd")
        self.assertEqual({secret}, {Secret("abcd")})
        self.assertNotEqual(secret, "abcd")


class ValueTests(unittest.IsolatedAsyncioTestCase):
    def refusal(self, given: Any) -> str:
        with self.assertRaises(strata_bus.BusError) as raised:
            shelf().set_up(given)
        self.assertEqual(raised.exception.code, "bad-params")
        return raised.exception.message

    def test_values_are_read_with_defaults(self) -> None:
        settings = shelf()
        with self.assertRaises(RuntimeError):
            settings.value
        settings.set_up({"shelf.title": "Books", "shelf.key": "abcd", "other": 1})
        self.assertEqual(settings.value, ShelfSettings(title="Books", key=Secret("abcd")))
        self.assertEqual(settings.shown({"shelf.title": "a", "shelf.key": "b", "shelf.pin": "c"}), {"shelf.title": "a"})

    def test_each_wrong_value_is_named_and_no_secret_shown(self) -> None:
        where = ": set it in the manifest's settings, in settings.d or by STRATA_SET_shelf__"
        self.assertEqual(
            self.refusal({"shelf.page": "x"}),
            f'the setting shelf.page: expected an integer, found the string "x"{where}page; '
            f"the setting shelf.title: expected a string, found nothing{where}title")
        self.assertEqual(
            self.refusal({"shelf.title": "a", "shelf.order": "size"}),
            f'the setting shelf.order: expected "name" or "price", found the string "size"{where}order')
        self.assertEqual(
            self.refusal({"shelf.title": "a", "shelf.key": 12345678, "shelf.pin": 87654321}),
            "; ".join(
                f"the setting shelf.{key}: expected a string or null, found another value: give it in the row's "
                "secrets, from a file or a variable" for key in ("key", "pin")))

    def test_what_the_class_refuses_shows_no_secret(self) -> None:
        @dataclass
        class Picky:
            key: Secret[str] = Setting("key")

            def __post_init__(self) -> None:
                raise ValueError(f"{self.key.value} is too short")

        with self.assertRaises(strata_bus.BusError) as raised:
            strata_bus.Settings(Picky).set_up({"key": "abcd"})
        self.assertEqual(raised.exception.message, "the settings: ‹secret› is too short")

    async def test_changed_values_are_taken_together_or_not_at_all(self) -> None:
        settings, changes = shelf(), list[Any]()
        settings.set_up({"shelf.title": "Books"})

        async def changed(new: ShelfSettings) -> None:
            self.assertEqual(settings.value.page, 20)
            changes.append(new)

        with self.assertRaises(strata_bus.BusError):
            await settings.take({"shelf.title": "a", "shelf.page": 50, "shelf.order": "size"}, "Shelf", changed)
        self.assertEqual((changes, settings.value.page), ([], 20))
        await settings.take({"shelf.title": "a", "shelf.page": 50}, "Shelf", changed)
        self.assertEqual((changes, settings.value), ([ShelfSettings(title="a", page=50)], changes[0]))
        # The same values again are no change.
        await settings.take({"shelf.title": "a", "shelf.page": 50}, "Shelf", None)
        self.assertEqual(len(changes), 1)
        with self.assertRaises(strata_bus.BusError) as raised:
            await settings.take({"shelf.title": "b", "shelf.page": 50}, "Shelf", None)
        self.assertEqual(raised.exception.code, "unknown-action")

    async def test_an_overtaken_change_counts_no_longer(self) -> None:
        settings, go = shelf(), asyncio.Event()
        settings.set_up({"shelf.title": "Books"})

        async def wait(new: ShelfSettings) -> None:
            await go.wait()

        older = asyncio.create_task(settings.take({"shelf.title": "a"}, "Shelf", wait))
        await asyncio.sleep(0)
        await settings.take({"shelf.title": "b"}, "Shelf", lambda new: None)
        go.set()
        with self.assertRaisesRegex(strata_bus.BusError, "newer settings came"):
            await older
        self.assertEqual(settings.value.title, "b")

    async def test_a_handler_that_raises_refuses_all_and_shows_no_secret(self) -> None:
        settings = shelf()
        settings.set_up({"shelf.title": "Books", "shelf.key": "abcdefgh"})

        def refuse(new: ShelfSettings) -> None:
            raise strata_bus.BusError("Shelf.bad-key", f"abcdefgh isn't like {new.key and new.key.value}")

        def fail(new: ShelfSettings) -> None:
            raise KeyError(new.key and new.key.value)

        given = {"shelf.title": "Books", "shelf.page": 50, "shelf.key": 'ijkl"mno'}
        with self.assertRaises(strata_bus.BusError) as raised:
            await settings.take(given, "Shelf", refuse)
        self.assertEqual(raised.exception.code, "Shelf.bad-key")
        self.assertEqual(
            raised.exception.message, "settings_changed refuses shelf.page, shelf.key: ‹secret› isn't like ‹secret›")
        with self.assertLogs("strata", "ERROR") as logged, self.assertRaises(strata_bus.BusError) as raised:
            await settings.take(given, "Shelf", fail)
        self.assertEqual(raised.exception.code, "failed")
        self.assertNotIn("ijkl", raised.exception.message + logged.output[0])
        self.assertIn("KeyError", logged.output[0])
        self.assertEqual(settings.value.page, 20)


class BusTests(BusCase):
    manifest = """
app: python-tests
settings: {shelf.title: Books, other: 1}
modules:
  Shelf: {start: manual}
"""

    async def test_set_up_gets_the_declared_values(self) -> None:
        module = strata_bus.Module("Shelf")
        settings = module.settings(ShelfSettings)
        seen: list[Any] = []
        module.set_up(lambda context: seen.append(settings.value))
        await self.start(module)
        self.assertEqual(seen, [ShelfSettings(title="Books")])
        self.assertEqual(module.context.settings["shelf.title"], "Books")

    async def test_a_secret_is_only_in_the_declared_value(self) -> None:
        (self.folder / "key").write_text("abcdefgh")
        manifest = self.manifest.replace("manual", "manual, secrets: {shelf.key: {file: key}}")
        (self.folder / "strata.yaml").write_text(manifest)
        await self.end_broker()
        await self.start_broker()
        module = strata_bus.Module("Shelf")
        settings = module.settings(ShelfSettings)
        await self.start(module)
        self.assertEqual(settings.value.key, Secret("abcdefgh"))
        self.assertEqual(module.context.settings, {"shelf.title": "Books"})

    async def test_a_value_of_another_type_is_a_failed_start(self) -> None:
        (self.folder / "strata.yaml").write_text(self.manifest.replace("Books", "5"))
        await self.end_broker()
        await self.start_broker()
        module = strata_bus.Module("Shelf")
        module.settings(ShelfSettings)
        error = await self.assertRefused(module.run(self.socket), "failed", "no")
        self.assertIn("the setting shelf.title: expected a string, found the number 5: set it in", error.message)

    async def test_a_module_without_declaration_takes_no_changes(self) -> None:
        module = strata_bus.Module("Shelf")
        await self.start(module)
        self.assertEqual(module.context.settings, {"shelf.title": "Books", "other": 1})
        handler = module._questions["settings"]
        call = strata_bus.Call({"to": "module/settings"}, b'{"settings": {}}')
        await self.assertRefused(within(handler(call)), "unknown-action", "no")
