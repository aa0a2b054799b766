// Uses a client that `strata contracts export --typescript` wrote: the compiler checks its types, and the test runs it.
import { Module } from "strata-bus";
import type { Instance, Operator } from "strata-bus";
import { Library } from "./library.js";
import type { Book, Find, LibraryNotices, Move, Shelf } from "./library.js";

/** A module that provides what the contract says. */
export function provider(): Module {
    const module = new Module("Low");
    const contract = JSON.parse(Library.contract) as Record<string, unknown>;
    module.action<Find>("Library/find", ({ params }): Book[] => [{
        number: 1, title: params.title, price: 9.5, page: "p", tags: [String(params["not-after"])], copies: { a: 1 },
        shelf: params.in ?? "lower", sequels: [],
    }]);
    module.action("Library/follow", async function* (): AsyncGenerator<Move> {
        yield { read: { _0: { name: "1", next: { name: "2" } } } };
        yield { lent: { to: "Ada", _1: [1, 2] } };
    });
    module.action("Library/lend", () => {}).action("Library/raw", (call) => call.params);
    module.action<string>("Library/shelve", (call) => call.params === "x").action("Library/tally", () => ({ a: 1 }));
    module.interface("Library", { version: Library.version, contract });
    return module;
}

/** A module that requires it. */
export function user(): Module {
    return new Module("High").requires(Library).observe<LibraryNotices["library.lent"]>(Library.LENT, (notice) => notice.params.to);
}

/** Calls each action, and returns what came. */
export async function use(through: Module | Operator | Instance): Promise<unknown[]> {
    const library = new Library(through);
    const books: Book[] = await library.find({ title: "a", in: "upper", "not-after": null }, { deadline: 60_000 });
    const shelves: Shelf[] = books.map(({ shelf }) => shelf);
    const names: string[] = [];
    for await (const move of library.follow({ credit: 1 })) {
        if ("read" in move) names.push(move.read._0.next?.name ?? "");
        else if ("lent" in move) names.push(move.lent.to);
    }
    const nothing: void = await library.lend({ book: 1, days: 2 });
    const raw: unknown = await library.raw([1]);
    const isThere: boolean = await library.shelve("x");
    const tally: Record<string, number> = await library.tally();
    return [books[0]!.title, books[0]!.tags, shelves, names, nothing, raw, isThere, tally];
}

/** Each of these lines must be an error for the compiler, or the build of the tests fails. */
export function mistakes(library: Library): void {
    // @ts-expect-error title is missing
    void library.find({});
    // @ts-expect-error no such shelf
    void library.find({ title: "a", in: "middle" });
    // @ts-expect-error a misspelt member
    void library.find({ titel: "a", title: "a" });
    // @ts-expect-error no credit without a stream
    void library.tally({ credit: 1 });
    // @ts-expect-error a number isn't a text
    void library.shelve(1);
    // @ts-expect-error the reply is an array
    void library.find({ title: "a" }).then((book) => book.title);
}
