import ArgumentParser
import StrataManifest

/// `strata schema`: prints the JSON Schema of the manifest.
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Prints the JSON Schema of the manifest, for editors.",
        discussion: """
            EXAMPLE
              strata schema > strata.schema.json

            An editor that uses yaml-language-server completes, explains and checks the keys of a \
            manifest with this first line:

              # yaml-language-server: $schema=strata.schema.json

            A file with rows for include names the rows' part of the schema:

              # yaml-language-server: $schema=../strata.schema.json#/definitions/rows

            The schema knows keys, types, words and ranges. strata check also knows which names there are.
            """)

    func run() { StandardOutput.write(Array(ManifestSchema().text.utf8)) }
}
